import type { Clock, DomainError, Instance, InventoryListener, InventoryWatch, Log } from '@headgate/domain-contracts';
import { isAbsentApi } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { KindState } from '../watch/kind-watch-settings.js';
import { KindWatch } from '../watch/kind-watch.js';
import type { Reachability } from '../watch/reachability.js';
import { ContainerTable } from './container-table.js';
import { inventoryKinds, type InventoryKind } from './inventory-kinds.js';
import { VmTable } from './vm-table.js';

export interface InventorySurroundings {
  readonly context: string;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly reachability: Reachability;
  /** Absent: every namespace. */
  readonly namespaces?: readonly string[];
}

/** How long a kind may be cut off, although the server answers, before the inventory counts as lost. */
const BROKEN_MS = 7_000;

interface Followed {
  readonly kind: InventoryKind;
  readonly watch: KindWatch<never>;
  /** `refused`: a kind that it can't do without, and may not read. */
  state: KindState['state'] | 'connecting' | 'refused';
  /** Takes back the timer that makes a kind's failure everybody's. */
  pardon: () => void;
}

/** One listener's view of the cluster: every kind followed, merged, told. */
export class InventorySession implements InventoryWatch {
  private readonly vms: VmTable;
  private readonly containers: ContainerTable;
  private readonly followed: Followed[];
  private readonly unlisten: () => void;
  /** `listed` was called, and nothing was lost since. */
  private live = false;
  private told: 'nothing' | 'listed' | 'lost' = 'nothing';
  private stopped = false;

  constructor(
    private readonly around: InventorySurroundings,
    private readonly listener: InventoryListener,
  ) {
    const records = {
      changed: (record: Instance) => void (this.live && this.listener.changed(record)),
      removed: (ref: Instance['ref']) => void (this.live && this.listener.removed(ref)),
    };
    this.vms = new VmTable(around.context, records);
    this.containers = new ContainerTable(around.context, records);
    this.followed = inventoryKinds(this.vms, this.containers).flatMap((kind) => this.follow(kind));
    this.unlisten = around.reachability.listen({ lost: (error) => this.serverLost(error), up: () => undefined });
    for (const { watch } of this.followed) watch.start();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.live = false;
    this.unlisten();
    for (const { pardon } of this.followed) pardon();
    await Promise.all(this.followed.map(({ watch }) => watch.stop()));
  }

  private follow(kind: InventoryKind): Followed[] {
    const { namespaces, api, clock, reachability } = this.around;
    const { resource, labelSelector, sink } = kind;
    const places = resource.namespaced && namespaces ? namespaces : [undefined];
    return places.map((namespace) => {
      const onState = (state: KindState): void => this.kindState(entry, state);
      const watch = new KindWatch({ api, clock, reachability, resource, namespace, labelSelector, sink, onState });
      const entry: Followed = { kind, watch, state: 'connecting', pardon: () => undefined };
      return entry;
    });
  }

  private kindState(entry: Followed, state: KindState): void {
    if (this.stopped) return;
    const before = entry.state;
    entry.state = state.state;
    if (state.state !== 'broken') entry.pardon();
    if (state.state === 'following') return this.tellWhenComplete();
    if (state.state === 'absent') return this.kindAbsent(entry, before, state.error);
    if (before === 'broken') return;
    entry.pardon();
    entry.pardon = this.around.clock.after(BROKEN_MS, () => this.lose(state.error));
  }

  private kindAbsent(entry: Followed, before: Followed['state'], error: DomainError): void {
    // A CRD that is not installed has no objects; objects that may not be read are something else.
    if (entry.kind.required && !isAbsentApi(error)) entry.state = 'refused';
    if (before !== entry.state) {
      this.around.log.warn({ err: error.message }, 'kind not followed');
    }
    if (entry.state === 'refused') this.lose(error);
    else this.tellWhenComplete();
  }

  private tellWhenComplete(): void {
    if (this.live || this.around.reachability.state === 'lost') return;
    if (!this.followed.every(({ state }) => state === 'following' || state === 'absent')) return;
    this.live = true;
    this.told = 'listed';
    this.listener.listed([...this.vms.records(), ...this.containers.records()]);
  }

  private serverLost(error: DomainError): void {
    for (const entry of this.followed) {
      entry.pardon();
      if (entry.state === 'following' || entry.state === 'broken') entry.state = 'connecting';
      entry.watch.reconnect();
    }
    this.lose(error);
  }

  private lose(error: DomainError): void {
    if (this.stopped) return;
    this.live = false;
    if (this.told === 'lost') return;
    this.told = 'lost';
    this.around.log.warn({ code: error.code, err: error.message }, 'context lost');
    this.listener.lost(error);
  }
}
