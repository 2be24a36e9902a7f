import { AsyncLocalStorage } from 'node:async_hooks';
import {
  areCompatible,
  busyElsewhere,
  busyError,
  messageOf,
  Reservations,
  ruleOf,
  SILENT_LOG,
  SingleReplica,
  type Clock,
  type Conflict,
  type Holder,
  type Log,
  type Replicas,
  type Reservation,
  type TimedSteps,
  type Use,
  type UseMode,
  type Work,
  type WorkTimes,
} from '@headgate/domain-contracts';
import { SubjectClaims } from './subject-claims.js';

/** How long a request waits for another one that uses the same. */
const MAX_WAIT_MS = 10_000;
/** How often a request asks again for what another replica uses. */
const CLAIM_INTERVAL_MS = 200;

export interface LedgerDeps {
  readonly clock: Clock;
  readonly log?: Log;
  readonly replicas?: Pick<Replicas, 'id' | 'isMember' | 'claim' | 'release' | 'subscribe'>;
  /** Measures the work from its reservation, so that a wait for other work does not count. */
  readonly times?: WorkTimes;
}

/** A reservation in the ledger. */
interface Entry {
  readonly work: Work;
  task?: string;
  /** Whether the other replicas know it by claims of this one. */
  isClaimed: boolean;
}

interface Waiter {
  readonly work: Work;
  /** Called again after each change of the ledger. */
  readonly retry: () => void;
}

/**
 * Reservations in memory, which tasks restore when they are recovered, and claims for the other replicas. Within a
 * replica, all uses of an operation are reserved in one synchronous step, in the order of the requests, so that two
 * operations never wait for each other.
 */
export class Ledger extends Reservations {
  private readonly bySubject = new Map<string, Set<Entry>>();
  private readonly byTask = new Map<string, Entry>();
  private readonly waiters = new Set<Waiter>();
  private readonly listeners = new Set<(subjects: readonly string[]) => void>();
  private readonly claims: SubjectClaims;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly replicas: Pick<Replicas, 'isMember'>;
  private readonly times: WorkTimes | undefined;
  /** Counts how often this replica became alive for the others. */
  private term = 0;
  /** The term in which the operation that runs has reserved what it uses. */
  private readonly terms = new AsyncLocalStorage<number>();

  constructor({ clock, log = SILENT_LOG, replicas = new SingleReplica(), times }: LedgerDeps) {
    super();
    this.times = times;
    this.clock = clock;
    this.log = log;
    this.replicas = replicas;
    replicas.subscribe({ joined: () => void this.term++ });
    this.claims = new SubjectClaims(replicas, log);
  }

  override async acquire(work: Work): Promise<Reservation> {
    const deadline = this.clock.now() + MAX_WAIT_MS;
    for (;;) {
      const entry = await this.enter(work, deadline);
      const taken = await this.claims.acquire(subjectsOf(work)).catch((error: unknown) => {
        this.leave(entry);
        throw error;
      });
      if (taken === undefined) {
        entry.isClaimed = true;
        return this.reservationOf(entry);
      }
      this.leave(entry);
      // The task of the other replica may be visible only a little later. A request of it ends soon.
      if (this.clock.now() >= deadline) throw busyElsewhere(taken);
      await new Promise<void>((resolve) => void this.clock.after(CLAIM_INTERVAL_MS, resolve));
    }
  }

  override during<T>(work: Work, run: (reservation: Reservation) => Promise<T>): Promise<T> {
    const { term, times } = this;
    return super.during(work, (reservation) =>
      this.terms.run(term, () => (times ? times.during(work, () => run(reservation)) : run(reservation))),
    );
  }

  override withTimes<P extends TimedSteps>(work: Work, plan: P): P {
    return this.times ? this.times.inPlan(work, plan) : plan;
  }

  override get isLost(): boolean {
    const term = this.terms.getStore();
    return !this.replicas.isMember || (term !== undefined && term !== this.term);
  }

  override conflictsOf(uses: readonly Use[]): readonly Conflict[] {
    const entries = new Set(uses.flatMap(({ subject }) => [...(this.bySubject.get(subject) ?? [])]));
    return [...entries].flatMap((entry) => {
      const met = firstMet(uses, entry.work.uses);
      return met ? [conflictOf(entry, met.subject)] : [];
    });
  }

  override inContext(context: string): readonly Conflict[] {
    const found = new Map<Entry, Conflict>();
    for (const [subject, entries] of this.bySubject) {
      // All subjects are `<kind>/<context>/…`, in encoded parts.
      if (subject.split('/', 2)[1] !== encodeURIComponent(context)) continue;
      for (const entry of entries) found.set(entry, conflictOf(entry, subject));
    }
    return [...found.values()];
  }

  override taskOf(subject: string): Required<Holder> | undefined {
    for (const { task, work } of this.bySubject.get(subject) ?? []) {
      const mode = work.uses.find((use) => use.subject === subject)?.mode;
      if (task !== undefined && mode !== undefined && !LEAVES_USABLE.includes(mode))
        return { operation: work.operation, task };
    }
    return undefined;
  }

  override adopt(task: string, work: Work, isHere: boolean): void {
    const known = this.byTask.get(task);
    const entry: Entry = known ?? { work, task, isClaimed: false };
    if (!known) {
      this.add(entry);
      this.byTask.set(task, entry);
      this.emit(work);
    }
    if (!isHere || entry.isClaimed) return;
    entry.isClaimed = true;
    this.claims.acquire(subjectsOf(work)).then(
      (taken) => {
        if (taken === undefined) return;
        entry.isClaimed = false;
        this.log.warn({ task, subject: taken }, 'another replica uses an instance of a task that continues here');
      },
      (error: unknown) => {
        entry.isClaimed = false;
        this.log.warn({ task, reason: messageOf(error) }, 'the reservations of a task were not claimed');
      },
    );
  }

  override endTask(task: string): void {
    const entry = this.byTask.get(task);
    if (!entry) return;
    this.byTask.delete(task);
    this.leave(entry);
    this.emit(entry.work);
  }

  override subscribe(listener: (subjects: readonly string[]) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Waits for the requests that use the same. */
  private enter(work: Work, deadline: number): Promise<Entry> {
    const tryNow = (before: Iterable<Waiter>): Entry | undefined => {
      const [conflict] = this.conflictsOf(work.uses).filter(({ isBrief }) => !isBrief);
      if (conflict) throw busyError(conflict);
      if (this.conflictsOf(work.uses).length > 0) return undefined;
      for (const waiter of before) if (firstMet(work.uses, waiter.work.uses)) return undefined;
      const entry: Entry = { work, isClaimed: false };
      this.add(entry);
      return entry;
    };
    return new Promise<Entry>((resolve, reject) => {
      const waiter: Waiter = { work, retry: () => attempt() };
      const timeoutMs = Math.max(0, deadline - this.clock.now());
      const end = (): void => {
        this.waiters.delete(waiter);
        cancel();
      };
      const attempt = (): void => {
        try {
          const entry = tryNow(this.waitersBefore(waiter));
          if (!entry) return;
          end();
          resolve(entry);
        } catch (error) {
          end();
          reject(error as Error);
        }
      };
      this.waiters.add(waiter);
      const cancel = this.clock.after(timeoutMs, () => {
        const [conflict] = this.conflictsOf(work.uses);
        end();
        reject(conflict ? busyError(conflict) : busyElsewhere(work.uses[0]?.subject ?? ''));
        this.wake();
      });
      attempt();
    });
  }

  private *waitersBefore(waiter: Waiter): Iterable<Waiter> {
    for (const one of this.waiters) {
      if (one === waiter) return;
      yield one;
    }
  }

  private reservationOf(entry: Entry): Reservation {
    let isOpen = true;
    return {
      work: entry.work,
      giveTo: (task) => {
        if (!isOpen) throw new Error(`The reservation for ${entry.work.operation} has ended.`);
        isOpen = false;
        entry.task = task;
        this.byTask.set(task, entry);
        this.emit(entry.work);
        // A request that waits for the end of this one is refused now.
        this.wake();
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.leave(entry);
      },
    };
  }

  private add(entry: Entry): void {
    for (const subject of subjectsOf(entry.work)) {
      const entries = this.bySubject.get(subject) ?? new Set();
      entries.add(entry);
      this.bySubject.set(subject, entries);
    }
  }

  private leave(entry: Entry): void {
    for (const subject of subjectsOf(entry.work)) {
      const entries = this.bySubject.get(subject);
      entries?.delete(entry);
      if (entries?.size === 0) this.bySubject.delete(subject);
    }
    if (entry.isClaimed) this.claims.release(subjectsOf(entry.work));
    entry.isClaimed = false;
    this.wake();
  }

  private wake(): void {
    for (const { retry } of [...this.waiters]) retry();
  }

  private emit({ uses }: Work): void {
    const subjects = uses.map(({ subject }) => subject);
    for (const listener of this.listeners) listener(subjects);
  }
}

/** Work that leaves an instance as usable as it is without it. */
const LEAVES_USABLE: readonly UseMode[] = ['present', 'guest', 'content'];

const conflictOf = ({ work: { operation }, task }: Entry, subject: string): Conflict => {
  const isBrief = task === undefined && ruleOf(operation).lasts === 'request';
  return { subject, operation, isBrief, ...(task !== undefined && { task }) };
};

const subjectsOf = ({ uses }: Work): readonly string[] => [...new Set(uses.map(({ subject }) => subject))];

/** The first of the uses that can't go on together with the others. */
const firstMet = (uses: readonly Use[], others: readonly Use[]): Use | undefined =>
  uses.find(({ subject, mode }) => others.some((use) => use.subject === subject && !areCompatible(use.mode, mode)));
