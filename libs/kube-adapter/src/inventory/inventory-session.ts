import type {
  DomainError,
  Instance,
  InventoryListener,
  InventoryWatch,
  Log,
  VirtualMachine,
} from '@headgate/domain-contracts';
import { isApiNotServed } from '../api/kube-api-error.js';
import { KindWatch, type KindState, type WatchDeps } from '../watch/kind-watch.js';
import { ContainerTable } from './container-table.js';
import { inventoryKinds, type InventoryKind } from './inventory-kinds.js';
import { VmTable } from './vm-table.js';

export interface InventoryDeps extends WatchDeps {
  readonly context: string;
  readonly log: Log;
  /** Absent: every namespace. */
  readonly namespaces?: readonly string[];
}

/** How long one kind may be disconnected, while the server answers, before the whole inventory is reported as lost. */
const BROKEN_LIMIT_MS = 7_000;

interface FollowedKind {
  readonly kind: InventoryKind;
  readonly watch: KindWatch<never>;
  /** `refused`: a required kind that the account may not read. */
  state: KindState['state'] | 'connecting' | 'refused';
  /** Cancels the timer that reports the inventory as lost because this kind is disconnected. */
  cancelLossTimer: () => void;
}

/** One listener's view of the cluster: follows every kind, joins the objects into records and reports the changes. */
export class InventorySession implements InventoryWatch {
  private readonly vms: VmTable;
  private readonly containers: ContainerTable;
  private readonly followed: FollowedKind[];
  private readonly unlisten: () => void;
  /** `listed` was reported, and no loss since. */
  private live = false;
  private lastReport: 'none' | 'listed' | 'lost' = 'none';
  private stopped = false;

  constructor(
    private readonly deps: InventoryDeps,
    private readonly listener: InventoryListener,
  ) {
    const records = {
      changed: (record: Instance) => void (this.live && this.listener.changed(record)),
      removed: (ref: Instance['ref']) => void (this.live && this.listener.removed(ref)),
    };
    this.vms = new VmTable(deps.context, records);
    this.containers = new ContainerTable(deps.context, records);
    this.followed = inventoryKinds(this.vms, this.containers).flatMap((kind) => this.follow(kind));
    this.unlisten = deps.reachability.listen({ lost: (error) => this.onServerLost(error), up: () => undefined });
    for (const { watch } of this.followed) watch.start();
  }

  vmOfGuest(uid: string): VirtualMachine | undefined {
    return this.vms.vmOfGuest(uid);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.live = false;
    this.unlisten();
    for (const { cancelLossTimer } of this.followed) cancelLossTimer();
    await Promise.all(this.followed.map(({ watch }) => watch.stop()));
  }

  private follow(kind: InventoryKind): FollowedKind[] {
    const { namespaces, api, clock, reachability } = this.deps;
    const { resource, labelSelector, sink } = kind;
    const scopes = resource.namespaced && namespaces ? namespaces : [undefined];
    return scopes.map((namespace) => {
      const onState = (state: KindState): void => this.onKindState(followed, state);
      const watch = new KindWatch({ api, clock, reachability, resource, namespace, labelSelector, sink, onState });
      const followed: FollowedKind = { kind, watch, state: 'connecting', cancelLossTimer: () => undefined };
      return followed;
    });
  }

  private onKindState(followed: FollowedKind, state: KindState): void {
    if (this.stopped) return;
    const before = followed.state;
    followed.state = state.state;
    if (state.state !== 'broken') followed.cancelLossTimer();
    if (state.state === 'following') return this.reportWhenComplete();
    if (state.state === 'absent') return this.onKindAbsent(followed, before, state.error);
    if (before === 'broken') return;
    followed.cancelLossTimer();
    followed.cancelLossTimer = this.deps.clock.after(BROKEN_LIMIT_MS, () => this.reportLost(state.error));
  }

  private onKindAbsent(followed: FollowedKind, before: FollowedKind['state'], error: DomainError): void {
    // A CRD that is not installed has no objects. Objects that the account may not read do exist.
    if (followed.kind.required && !isApiNotServed(error)) followed.state = 'refused';
    if (before !== followed.state) {
      this.deps.log.warn({ err: error.message }, 'kind not followed');
    }
    if (followed.state === 'refused') this.reportLost(error);
    else this.reportWhenComplete();
  }

  private reportWhenComplete(): void {
    if (this.live || this.deps.reachability.state === 'lost') return;
    if (!this.followed.every(({ state }) => state === 'following' || state === 'absent')) return;
    this.live = true;
    this.lastReport = 'listed';
    this.listener.listed([...this.vms.records(), ...this.containers.records()]);
  }

  private onServerLost(error: DomainError): void {
    for (const followed of this.followed) {
      followed.cancelLossTimer();
      if (followed.state === 'following' || followed.state === 'broken') followed.state = 'connecting';
      followed.watch.reconnect();
    }
    this.reportLost(error);
  }

  private reportLost(error: DomainError): void {
    if (this.stopped) return;
    this.live = false;
    if (this.lastReport === 'lost') return;
    this.lastReport = 'lost';
    this.deps.log.warn({ code: error.code, err: error.message }, 'context lost');
    this.listener.lost(error);
  }
}
