import type { RuleFacts, RuleRefusal } from '@headgate/limit-rules';
import type { Logger } from 'pino';
import type { OwnRefusal } from '../link/protocol.js';
import { LeastRecentlyUsed } from '@headgate/homeserver-contracts';

/** A refusal of a rate, a rule or a cap, with everything that explains it. It contains no token and no password. */
export interface RefusalEntry {
  /** ISO 8601. */
  readonly time: string;
  readonly rule: string;
  /** What the rule counts under; absent for bounds of single requests. */
  readonly key?: string | undefined;
  /**
   * `limit`: the limit is used up. `block`: the key exceeded it too often. `cap`: waiting does not help. `concurrent`:
   * too many requests are in progress. `denied`: the address is on a list.
   */
  readonly reason: 'limit' | 'block' | 'cap' | 'concurrent' | 'denied';
  readonly limit?: number | undefined;
  readonly windowMs?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly event?: string | undefined;
  readonly address?: string | undefined;
  readonly user?: string | undefined;
  /** Without the query. */
  readonly path?: string | undefined;
  /** The rule only reports: the request was not refused. */
  readonly shadow?: true;
}

/** A rule and key that are refused again within this time are logged once. */
const REPEAT_MS = 60_000;
/** A flood of refusals under many keys must not become a flood of log lines. */
const MAX_LINES_PER_SECOND = 10;
const RECENT = 1_000;
const TRACKED_KEYS = 10_000;

/** Says which rule refused what and why: in the log, with repetitions summed up, and as the latest entries. */
export class RefusalLog {
  private readonly recent: RefusalEntry[] = [];
  private readonly repeated = new LeastRecentlyUsed<string, { loggedAtMs: number; more: number }>(TRACKED_KEYS);
  /** The number of refusals since the start: the position of the stream. */
  private total = 0;
  private second = 0;
  private lines = 0;
  private suppressed = 0;

  /** @param isLogged whether refusals are logged; the latest entries are kept in any case */
  constructor(
    private readonly log: Pick<Logger, 'info'>,
    private readonly isLogged: () => boolean,
    private readonly now: () => number = Date.now,
  ) {}

  /** The latest refusals, the newest first. */
  latest(rule?: string, limit = RECENT): RefusalEntry[] {
    const matching = this.recent.filter((entry) => rule === undefined || entry.rule === rule);
    return matching.slice(-limit).reverse();
  }

  /** The number of refusals since the start. */
  get position(): number {
    return this.total;
  }

  /**
   * The refusals after a position, the oldest first. Of more than `limit`, the latest; `skipped` counts the others.
   * @param after a position; one that is ahead, such as that of a previous process, is the present one
   */
  since(after: number, limit: number): { entries: RefusalEntry[]; skipped: number; position: number } {
    const count = Math.max(0, this.total - after);
    const entries = count === 0 ? [] : this.recent.slice(-Math.min(count, limit));
    return { entries, skipped: count - entries.length, position: this.total };
  }

  rate(refusal: RuleRefusal, { address, user, path }: RuleFacts, isShadow: boolean): void {
    const { rule, key, reason, limit, windowMs, retryAfterMs, event } = refusal;
    const shadow = isShadow ? { shadow: true as const } : {};
    this.add({ rule, key, reason, limit, windowMs, retryAfterMs, event, address, user, path, ...shadow });
  }

  cap(rule: string, refused: { key?: string; limit?: number; address?: string } = {}): void {
    this.add({ rule, reason: 'cap', ...refused });
  }

  concurrent(
    rule: string,
    refused: Pick<RefusalEntry, 'key' | 'limit' | 'address' | 'retryAfterMs'>,
    isShadow: boolean,
  ): void {
    this.add({ rule, reason: 'concurrent', ...refused, ...(isShadow && { shadow: true as const }) });
  }

  /** @param rule the name of the list */
  denied(rule: string, refused: Pick<RefusalEntry, 'key' | 'address' | 'path'>, isShadow: boolean): void {
    this.add({ rule, reason: 'denied', ...refused, ...(isShadow && { shadow: true as const }) });
  }

  /** A refusal that a worker has decided on. */
  own(refused: OwnRefusal): void {
    this.add(refused);
  }

  protected add(refused: Omit<RefusalEntry, 'time'>): void {
    const nowMs = this.now();
    const entry = { time: new Date(nowMs).toISOString(), ...refused };
    this.recent.push(entry);
    this.total++;
    // Removing one by one would move the whole array each time.
    if (this.recent.length >= 2 * RECENT) this.recent.splice(0, RECENT);
    if (this.isLogged()) this.write(entry, nowMs);
  }

  private write({ time: _, path: _path, ...refused }: RefusalEntry, nowMs: number): void {
    const id = `${refused.rule}\0${refused.key}`;
    const known = this.repeated.get(id);
    if (known && nowMs - known.loggedAtMs < REPEAT_MS) {
      known.more++;
      return;
    }
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) [this.second, this.lines] = [second, 0];
    if (++this.lines > MAX_LINES_PER_SECOND) {
      this.suppressed++;
      return;
    }
    this.repeated.set(id, { loggedAtMs: nowMs, more: 0 });
    const more = {
      ...(known && known.more > 0 && { repeated: known.more }),
      ...(this.suppressed > 0 && { suppressed: this.suppressed }),
    };
    this.suppressed = 0;
    this.log.info({ ...refused, ...more }, refused.shadow ? 'a request would be refused' : 'a request was refused');
  }
}
