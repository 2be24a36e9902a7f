import { AsyncLocalStorage } from 'node:async_hooks';
import {
  addSeconds,
  bulkSeconds,
  FORCED,
  WorkTimes,
  workOn,
  type BulkRequest,
  type Clock,
  type MeasuredSeconds,
  type Task,
  type TimedSteps,
  type TimedWork,
  type Work,
} from '@headgate/domain-contracts';
import { Durations, rangeIn } from './durations.js';
import { RecentMap } from './recent-map.js';

/** Operations, with their variants. */
const MAX_KINDS = 500;
const MAX_CONTEXTS = 200;
/** How many other contexts of the kind are enough for a promise. */
const MAX_ALIKE = 3;

/** The operation as which a bulk action is measured. */
function operationOf(action: BulkRequest['action']): Work['operation'] {
  switch (action) {
    case 'untag':
      return 'tag';
    case 'unfolder':
      return 'folder';
    case 'drain':
      return 'migrate';
    default:
      return action;
  }
}

/** A request that is being measured. */
interface Scope {
  readonly work: Work;
  /** Whether its time is not that of the work: it started a task, or only surrounds other work. */
  isReplaced: boolean;
  hasTask: boolean;
  hasEnded: boolean;
}

/**
 * How long work took, in memory: the last runs of each operation in each context, and of each step of its tasks. It is
 * filled from the tasks of the store at the start, and from requests and ended tasks afterwards. Where a context has no
 * run yet, those of the contexts of its kind are taken.
 */
export class PastTimes extends WorkTimes {
  private readonly byKind = new RecentMap<RecentMap<Durations>>(MAX_KINDS);
  private readonly scopes = new AsyncLocalStorage<Scope>();
  private kindOf: (context: string) => string | undefined = () => undefined;

  constructor(private readonly clock: Clock) {
    super();
  }

  /** @param kindOf the kind of backend of a context, if that is known */
  compareBy(kindOf: (context: string) => string | undefined): void {
    this.kindOf = kindOf;
  }

  override async during<T>(work: Work, run: () => Promise<T>): Promise<T> {
    const outer = this.scopes.getStore();
    if (outer) outer.isReplaced = true;
    const scope: Scope = { work, isReplaced: false, hasTask: false, hasEnded: false };
    const begin = this.clock.monotonic();
    try {
      const result = await this.scopes.run(scope, run);
      if (!scope.isReplaced && !work.endsLater) this.record(work, (this.clock.monotonic() - begin) / 1000);
      return result;
    } finally {
      scope.hasEnded = true;
    }
  }

  override record(work: Work, seconds: number): void {
    this.of(timedAs(work)).addTotal(seconds);
  }

  /** The work of the request that starts a task at this moment, unless it has started one before. */
  ofNewTask(variant?: string): TimedWork | undefined {
    const scope = this.scopes.getStore();
    if (!scope || scope.hasEnded || scope.hasTask) return undefined;
    scope.isReplaced = true;
    scope.hasTask = true;
    return timedAs(variant === undefined ? scope.work : { ...scope.work, variant });
  }

  /** Counts a task that has ended, if it was measured. */
  add({ status, timedAs, tookSeconds, steps = [], result }: Omit<Task, 'log'>): void {
    if (status !== 'done' || !timedAs || tookSeconds === undefined) return;
    const durations = this.of(timedAs);
    durations.addTotal(tookSeconds);
    for (const { name, tookSeconds: ofStep, parts = [] } of steps) {
      if (ofStep !== undefined) durations.addStep(name, ofStep);
      for (const part of parts) durations.addStep(part.name, part.tookSeconds);
    }
    const downtimeMs: unknown = result && 'downtimeMs' in result ? result.downtimeMs : undefined;
    if (typeof downtimeMs === 'number') durations.addInterruption(downtimeMs / 1000);
  }

  total(work: TimedWork): MeasuredSeconds | undefined {
    return rangeIn(this.comparable(work), ({ ofAll }) => ofAll);
  }

  step(work: TimedWork, name: string): MeasuredSeconds | undefined {
    return rangeIn(this.comparable(work), (one) => one.ofStep(name));
  }

  /** A bulk task for these refs. */
  bulk(request: BulkRequest, refs: readonly string[]): MeasuredSeconds | undefined {
    const { action, force } = request;
    const operation = operationOf(action);
    const rest = force ? { variant: FORCED } : {};
    return bulkSeconds(
      request,
      refs.map((ref) => this.total(timedAs({ ...workOn(operation, ref), ...rest }))),
    );
  }

  override inPlan<P extends TimedSteps>(work: Work, plan: P): P {
    const durations = this.comparable(timedAs(work));
    const seconds = rangeIn(durations, ({ ofAll }) => ofAll);
    if (plan.steps.length === 0 || !seconds) return plan;
    const interruption = rangeIn(durations, ({ ofInterruption }) => ofInterruption);
    const isOnly = plan.steps.length === 1;
    const steps = plan.steps.map((step) => {
      const { name, reportedAs = [name] } = step;
      const parts = reportedAs.map((part) => rangeIn(durations, (one) => one.ofStep(part)));
      const own = addSeconds(parts) ?? (isOnly ? seconds : undefined);
      return own ? { ...step, seconds: own } : step;
    });
    return { ...plan, steps, seconds, ...(interruption && { interruption }) };
  }

  private of({ operation, variant = '', context }: TimedWork): Durations {
    return this.byKind
      .of(`${operation} ${variant}`, () => new RecentMap(MAX_CONTEXTS))
      .of(context, () => new Durations());
  }

  /** Those of the context, or of the contexts of its kind that were used last. */
  private comparable({ operation, variant = '', context }: TimedWork): readonly Durations[] {
    const contexts = this.byKind.get(`${operation} ${variant}`);
    const own = contexts?.get(context);
    if (!contexts || own) return own ? [own] : [];
    const kind = this.kindOf(context);
    if (kind === undefined) return [];
    const alike = [...contexts.all()].filter(([other]) => this.kindOf(other) === kind);
    return alike.slice(-MAX_ALIKE).map(([, durations]) => durations);
  }
}

function timedAs({ operation, uses: [first], variant }: Work): TimedWork {
  const [kind, context = ''] = (first?.subject ?? '').split('/', 2);
  // A container starts in another way than a VM.
  const whole = kind === 'ct' ? ['container', variant].filter(Boolean).join(' ') : variant;
  return { operation, context: decodeURIComponent(context), ...(whole !== undefined && { variant: whole }) };
}
