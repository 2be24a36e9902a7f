import { foldName, type Clock, type Log, type UserGroups, type UserGroupsStore } from '@headgate/domain-contracts';

/** The groups of a user, as of their last login. */
export interface GroupsAsOf {
  readonly groups: readonly string[];
  /** When they were reported, and until when they count. ISO 8601. */
  readonly at: string;
  readonly until: string;
}

export interface KnownGroupsOptions {
  /** How many days after the last login they count; 0: never. */
  readonly days: number;
  readonly log?: Log;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Requests through a proxy report the groups each time, and must not cost a write each. */
const REFRESH_MS = HOUR_MS;
/** How far the clocks of two replicas may differ. Groups from further ahead are of a clock that was wrong. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;
export const MAX_USERS_WITH_GROUPS = 5_000;
const MAX_GROUPS = 1_000;
/** In all names together: a custom resource has at most 1.5 MB. */
const MAX_CHARS = 64_000;
/** How many that have expired are deleted when a user is added. */
const MAX_EXPIRED_AT_ONCE = 100;
const MAX_TIMER_MS = DAY_MS;
const NO_GROUPS: readonly string[] = [];

/**
 * The groups of users who are not present, for their tokens, schedules and webhooks: as they were reported at the last
 * login, for a limited time. A group that was removed at the provider ends with the next login, or with that time.
 */
export class KnownGroups {
  /** As they are stored, by login. */
  private readonly cached = new Map<string, UserGroups | undefined>();
  private readonly listeners = new Set<() => void>();
  private timer: { readonly until: number; readonly cancel: () => void } | undefined;
  private isClosed = false;
  /** One after the other, so that the later of two logins wins. */
  private writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: UserGroupsStore,
    private readonly clock: Clock,
    private readonly options: KnownGroupsOptions,
  ) {
    // For as long as the process lives.
    store.subscribe(() => this.report());
  }

  /**
   * The groups that count now; the same array until they change.
   * @throws DomainError NOT_READY while they can't be read
   */
  of(login: string): readonly string[] {
    return this.find(login)?.groups ?? NO_GROUPS;
  }

  /** The same with their times; undefined if none count. @throws DomainError NOT_READY */
  find(login: string): GroupsAsOf | undefined {
    if (login === '' || this.options.days === 0) return undefined;
    const known = this.read(foldName(login));
    if (!known) return undefined;
    const until = this.endOf(known);
    if (!this.counts(known)) return undefined;
    this.reportAt(until);
    return { groups: known.groups, at: known.at, until: new Date(until).toISOString() };
  }

  /** Records the groups of a user who has logged in. Those of a user without any are not stored. */
  record(login: string, groups: readonly string[]): Promise<void> {
    const work = this.writes.then(async () => {
      if (login === '' || this.options.days === 0) return;
      const key = foldName(login);
      // Another replica may have recorded some just now.
      await this.store.reload(key);
      this.cached.delete(key);
      await this.write({ login: key, groups: tidy(groups), at: this.clock.iso() });
    });
    this.writes = work.catch(() => undefined);
    return work;
  }

  /** The same for each request through a proxy: it costs nothing while they are known, and never fails the request. */
  async note(login: string, groups: readonly string[]): Promise<void> {
    try {
      if (login === '' || this.options.days === 0 || this.isKnown(this.read(foldName(login)), tidy(groups))) return;
      await this.record(login, groups);
    } catch (error) {
      this.options.log?.warn({ err: error }, 'the groups of a user could not be recorded');
    }
  }

  /** Forgets the groups of a user until their next login. */
  async forget(login: string): Promise<void> {
    const key = foldName(login);
    const work = this.writes.then(async () => {
      await this.store.reload(key);
      await this.store.delete(key);
      this.report();
    });
    this.writes = work.catch(() => undefined);
    return work;
  }

  /** @param listener called after groups may have changed or ended, until the returned function is called */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Reports no end of groups any more. */
  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
  }

  private async write(next: UserGroups): Promise<void> {
    const known = this.read(next.login);
    if (this.isKnown(known, next.groups)) return;
    const stored = await this.store.change(next.login, () => next);
    if (!stored) {
      await this.makeRoom();
      await this.store.put(next);
    }
    if (known && hasSame(known.groups, next.groups)) this.cached.delete(next.login);
    else this.report();
  }

  /** Whether a write would change nothing that matters. */
  private isKnown(known: UserGroups | undefined, groups: readonly string[]): boolean {
    if (!known) return groups.length === 0;
    const age = this.clock.now() - Date.parse(known.at);
    if (!hasSame(known.groups, groups)) return false;
    return groups.length === 0 || (age >= 0 && age < REFRESH_MS);
  }

  private async makeRoom(): Promise<void> {
    const all = this.store.all();
    const expired = all.filter((one) => !this.counts(one)).slice(0, MAX_EXPIRED_AT_ONCE);
    for (const { login } of expired) await this.store.delete(login);
    const excess = all.length - expired.length - MAX_USERS_WITH_GROUPS + 1;
    if (excess <= 0) return;
    const gone = new Set(expired);
    const oldest = all.filter((one) => !gone.has(one)).sort((a, b) => (a.at < b.at ? -1 : 1));
    for (const { login } of oldest.slice(0, excess)) await this.store.delete(login);
  }

  private read(key: string): UserGroups | undefined {
    if (this.cached.has(key)) return this.cached.get(key);
    const known = this.store.get(key);
    if (this.cached.size >= MAX_USERS_WITH_GROUPS) this.cached.clear();
    this.cached.set(key, known);
    return known;
  }

  private counts(known: UserGroups): boolean {
    const ahead = Date.parse(known.at) - this.clock.now();
    return ahead <= MAX_AHEAD_MS && this.clock.now() < this.endOf(known);
  }

  private endOf({ at }: UserGroups): number {
    return Date.parse(at) + this.options.days * DAY_MS;
  }

  /** Reports the first end of groups that were asked for: streams and consoles may be open by them. */
  private reportAt(until: number): void {
    if (this.isClosed || (this.timer && this.timer.until <= until)) return;
    this.timer?.cancel();
    const leftMs = Math.min(until - this.clock.now(), MAX_TIMER_MS);
    const cancel = this.clock.after(leftMs, () => {
      this.timer = undefined;
      this.report();
    });
    this.timer = { until, cancel };
  }

  private report(): void {
    this.cached.clear();
    for (const listener of [...this.listeners]) listener();
  }
}

const hasSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((group, index) => group === other[index]);

/** In one order, so that another order of the provider is no change. Those beyond the limits give no rights. */
function tidy(groups: readonly string[]): readonly string[] {
  let chars = 0;
  return [...new Set(groups)]
    .sort()
    .slice(0, MAX_GROUPS)
    .filter((group) => (chars += group.length) <= MAX_CHARS);
}
