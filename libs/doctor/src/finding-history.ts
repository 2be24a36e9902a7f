import type { Clock } from '@headgate/domain-contracts';
import type { ContextCheck } from './check-backends.js';

type CheckId = Pick<ContextCheck, 'context' | 'name'>;

/** The checks of a context that did not pass the last time, and when each was first seen, in ISO 8601. */
type Failed = ReadonlyMap<string, string | undefined>;

/**
 * Remembers, in memory, since when each check fails. A problem that is there when its context is checked for the first
 * time may be older than the service, so that nothing is known about its age.
 */
export class FindingHistory {
  private failed: ReadonlyMap<string, Failed> = new Map();
  private begun = 0;
  private observed = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * Call it when checks begin, and the result with what they found. The result of checks that began before others
   * whose result is already known is out of date, and is ignored.
   */
  begin(): (found: readonly ContextCheck[]) => void {
    const run = ++this.begun;
    return (found) => {
      if (run < this.observed) return;
      this.observed = run;
      this.observe(found);
    };
  }

  /** When a check that does not pass was first seen to fail, in ISO 8601; undefined if that is not known. */
  since({ context, name }: CheckId): string | undefined {
    return this.failed.get(context)?.get(name);
  }

  private observe(found: readonly ContextCheck[]): void {
    const now = new Date(this.clock.now()).toISOString();
    // Contexts and checks that do not exist any more are forgotten, so that it can't grow.
    const next = new Map<string, Map<string, string | undefined>>();
    for (const { context, name, status } of found) {
      const before = this.failed.get(context);
      const failed = next.get(context) ?? new Map<string, string | undefined>();
      next.set(context, failed);
      if (status !== 'ok') failed.set(name, before?.has(name) ? before.get(name) : before && now);
    }
    this.failed = next;
  }
}
