import type { RehearsedChangeDto } from '@headgate/api-contracts';
import {
  DomainError,
  formatRef,
  isVm,
  messageOf,
  parseRef,
  type AnyPlan,
  type Caller,
  type Clock,
  type FolderDirectory,
  type Instance,
} from '@headgate/domain-contracts';
import {
  changedRefs,
  type PlannedChange,
  type TwinInstance,
  type TwinOutcome,
  type TwinStep,
} from '@headgate/rehearsals';
import { turn, type TwinCluster, type VmEvent } from '../../engines/twin-cluster.js';
import { differenceOf, planDifferences } from './differences.js';
import { listNow } from './list-now.js';
import { TwinService } from './twin-service.js';
import { isSameState, stateOf, stateOrNull } from './twin-state.js';

/** Simulated time that passes between two turns of the event loop. */
const STEP_MS = 250;
/** Real time for the requests and watches of the adapter, between two steps. */
const PAUSE_MS = 1;
/** Simulated time without a change after which a cluster is at rest. */
const QUIET_MS = 20_000;
/** Simulated time for the cluster to come to rest before the change. */
const MAX_SETTLING_MS = 2 * 60_000;
/** Simulated time after the change. */
export const MAX_SIMULATED_MS = 30 * 60_000;
const MAX_STEPS_OF_ONE = 40;
const MAX_STEPS = 500;
const MAX_OTHERS = 500;
/** Statuses of instances that are on their way to another one. */
const UNRESTFUL: ReadonlySet<string> = new Set([
  'Provisioning',
  'Starting',
  'Stopping',
  'Terminating',
  'Migrating',
  'Pending',
]);

export interface TwinRunOptions {
  readonly dto: RehearsedChangeDto;
  readonly planned: PlannedChange;
  readonly caller: Caller;
  readonly folders: FolderDirectory;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The instances of the real context, by their refs. */
  readonly real: ReadonlyMap<string, Instance>;
}

/** What the twin shows, without what only its opener knows. */
export type TwinFindings = Omit<TwinOutcome, 'context' | 'readAt' | 'objects'>;

/** Carries out one change in an opened twin, with the use cases of this service. */
export class TwinRun {
  private readonly service: TwinService;
  private readonly steps = new Map<string, TwinStep[]>();
  private readonly targets: ReadonlySet<string>;
  private readonly errors = new Map<string, string>();
  private readonly differences: string[] = [];
  private startedAt = 0;
  private stepCount = 0;

  constructor(
    private readonly cluster: TwinCluster,
    private readonly options: TwinRunOptions,
  ) {
    this.service = new TwinService(cluster.backend, options.folders);
    this.targets = new Set(options.planned.targets.map(({ ref }) => ref));
  }

  async run(): Promise<TwinFindings> {
    await this.settle(() => true, MAX_SETTLING_MS, this.service.fleet.whenSynced());
    const before = await this.listed();
    this.startedAt = this.cluster.now();
    const unfollow = this.follow();
    const isSettled = await this.carryOut(before).finally(unfollow);
    const after = await this.listed();
    this.collectErrors();
    return {
      simulatedMs: this.cluster.now() - this.startedAt,
      isSettled,
      targets: [...this.targets].map((ref) => this.targetOf(ref, before, after)),
      others: this.othersOf(before, after),
      differences: this.differences,
      notes: this.notesOf(before),
    };
  }

  close(): Promise<void> {
    return this.service.close();
  }

  /** A fresh list does not depend on how far the watches are. */
  private listed(): Promise<ReadonlyMap<string, Instance>> {
    const listing = listNow(this.cluster.backend);
    return this.unlessEnded(listing);
  }

  private unlessEnded<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.options;
    return new Promise<T>((resolve, reject) => {
      const end = (): void => reject(signal.reason as Error);
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
      void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
    });
  }

  private async carryOut(before: ReadonlyMap<string, Instance>): Promise<boolean> {
    const present = this.presentTargets(before);
    if (present.length === 0) return true;
    const work = this.change(present).catch((error: unknown) => {
      for (const ref of present) this.errors.set(ref, messageOf(error));
    });
    return this.settle(() => this.isAtRest(), MAX_SIMULATED_MS, work);
  }

  /** Those that the plan changes, and that existed when the objects were read. */
  private presentTargets(before: ReadonlyMap<string, Instance>): string[] {
    const { planned } = this.options;
    const uids = new Map(planned.targets.map(({ ref, uid }) => [ref, uid]));
    return changedRefs(planned.plan, planned.targets).filter((ref) => {
      if (before.get(ref)?.uid === uids.get(ref)) return true;
      this.errors.set(ref, 'It no longer existed when the objects were read.');
      return false;
    });
  }

  private async change(refs: readonly string[]): Promise<void> {
    const { dto, caller, planned } = this.options;
    const { query: _query, ...request } = dto;
    const rehearsable = await this.service.actions.of({ ...request, refs: [...refs] }, caller);
    const bound = rehearsable.bind(refs.map(parseRef));
    const plan = await bound.plan();
    this.differences.push(...planDifferences(onlyOf(planned.plan, refs), plan));
    await bound.run(caller);
  }

  /**
   * Lets time pass until the work has ended, and nothing has changed for a while.
   * @returns false when the limit was reached before
   */
  private async settle(isAtRest: () => boolean, limitMs: number, work: Promise<unknown>): Promise<boolean> {
    const { cluster } = this;
    const { signal, clock } = this.options;
    let hasEnded = false;
    const ended = work.finally(() => (hasEnded = true));
    // A failure ends the loop, and is thrown below.
    ended.catch(() => undefined);
    const end = cluster.now() + limitMs;
    let changes = cluster.changes;
    let quietSince = cluster.now();
    for (;;) {
      signal.throwIfAborted();
      if (cluster.changes !== changes) {
        changes = cluster.changes;
        quietSince = cluster.now();
      }
      if (hasEnded && isAtRest() && cluster.now() - quietSince >= QUIET_MS) break;
      if (cluster.now() >= end) {
        if (hasEnded) await ended;
        return false;
      }
      await cluster.advance(STEP_MS, signal);
      await clock.delay(PAUSE_MS);
      await turn();
    }
    await ended;
    return true;
  }

  private isAtRest(): boolean {
    if (this.service.tasks.running().length > 0) return false;
    for (const ref of this.targets) {
      const instance = this.service.fleet.get(parseRef(ref));
      if (instance && UNRESTFUL.has(stateOf(instance).status)) return false;
    }
    return true;
  }

  /** Collects what happens to the targets: their states, and the events of the cluster. */
  private follow(): () => void {
    const { fleet } = this.service;
    const last = new Map<string, string>();
    for (const ref of this.targets) {
      const instance = fleet.get(parseRef(ref));
      if (instance) last.set(ref, placeOf(instance));
    }
    const unsubscribe = fleet.subscribe((event) => {
      if (event.type === 'status') return;
      const instance = event.type === 'changed' ? event.entry.instance : event.instance;
      const ref = formatRef(instance.ref);
      const place = event.type === 'changed' ? placeOf(instance) : 'Deleted';
      if (!this.targets.has(ref) || last.get(ref) === place) return;
      last.set(ref, place);
      const [name = '', detail = ''] = place.split('\n');
      this.addStep(ref, { atMs: this.cluster.now() - this.startedAt, name, detail, isWarning: false });
    });
    const { context } = this.cluster.backend;
    const unfollow = this.cluster.followEvents((event) => {
      const { namespace, name, at, reason, message, isWarning } = event;
      const ref = formatRef({ kind: 'vm', context, namespace, name });
      if (!this.targets.has(ref) || isOfKubelet(event)) return;
      this.addStep(ref, { atMs: at - this.startedAt, name: reason, detail: message, isWarning });
    });
    return () => {
      unsubscribe();
      unfollow();
    };
  }

  private addStep(ref: string, step: TwinStep): void {
    const steps = this.steps.get(ref) ?? [];
    this.steps.set(ref, steps);
    if (steps.length >= MAX_STEPS_OF_ONE || this.stepCount >= MAX_STEPS) return;
    this.stepCount++;
    steps.push(step);
  }

  private collectErrors(): void {
    for (const { ref, status, error, members = [] } of this.service.tasks.all()) {
      if (status === 'error' && this.targets.has(ref)) this.errors.set(ref, error);
      for (const member of members) if (member.error !== undefined) this.errors.set(member.ref, member.error);
    }
  }

  private targetOf(
    ref: string,
    before: ReadonlyMap<string, Instance>,
    after: ReadonlyMap<string, Instance>,
  ): TwinInstance {
    const { dto, planned } = this.options;
    const error = this.errors.get(ref);
    const states = { before: stateOrNull(before.get(ref)), after: stateOrNull(after.get(ref)) };
    const isChanged = changedRefs(planned.plan, planned.targets).includes(ref);
    const difference = isChanged ? differenceOf(dto, states.before, states.after, error) : undefined;
    return {
      ref,
      ...states,
      steps: this.steps.get(ref) ?? [],
      ...(error !== undefined && { error }),
      ...(difference !== undefined && { difference }),
    };
  }

  private othersOf(before: ReadonlyMap<string, Instance>, after: ReadonlyMap<string, Instance>): TwinInstance[] {
    const refs = [...new Set([...before.keys(), ...after.keys()])].filter((ref) => !this.targets.has(ref));
    return refs
      .map((ref) => ({ ref, before: stateOrNull(before.get(ref)), after: stateOrNull(after.get(ref)), steps: [] }))
      .filter((other) => !isSameState(other.before, other.after))
      .slice(0, MAX_OTHERS);
  }

  /** Where the twin does not reproduce the context. Instances that the caller may not read are not counted. */
  private notesOf(before: ReadonlyMap<string, Instance>): string[] {
    const { real, caller } = this.options;
    const compared = [...real].filter(([ref]) => caller.grant.allowsRef('read', ref));
    const others = compared.filter(([ref, instance]) => {
      const simulated = before.get(ref);
      return !simulated || placeOf(simulated) !== placeOf(instance);
    });
    if (others.length === 0) return [];
    return [
      `${others.length} of ${compared.length} instances have another status or node in the twin before the change: they changed meanwhile, or are not simulated faithfully.`,
    ];
  }
}

/** Images and containers of launchers are the same for each VM. */
const isOfKubelet = ({ kind, reason, isWarning }: VmEvent): boolean =>
  kind === 'Pod' && !isWarning && reason !== 'Scheduled';

/** The status and the node, as the two lines of a step. */
function placeOf(instance: Instance): string {
  const { status, node } = stateOf(instance);
  return isVm(instance) && status === 'Stopped' ? status : `${status}\n${node === undefined ? '' : `on ${node}`}`;
}

/** The plan of some of its targets. */
const onlyOf = (plan: AnyPlan, refs: readonly string[]): AnyPlan => {
  const { members } = plan as { members?: readonly { readonly ref: string }[] };
  if (!members) return plan;
  const [only, other] = members.filter(({ ref }) => refs.includes(ref));
  // The plan of one instance has no members.
  return only && !other
    ? (only as unknown as AnyPlan)
    : ({ ...plan, members: members.filter(({ ref }) => refs.includes(ref)) } as AnyPlan);
};

/** @throws DomainError NOT_SUPPORTED for a change that a twin can't carry out */
export function expectPossible({ action }: RehearsedChangeDto): void {
  if (action === 'folder' || action === 'unfolder')
    throw new DomainError('NOT_SUPPORTED', 'Folders are records of this service: a twin shows nothing of them.');
  if (action === 'restore-snapshot')
    throw new DomainError('NOT_SUPPORTED', 'A twin does not have the contents of snapshots, so it restores none.');
}
