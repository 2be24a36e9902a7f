import { Injectable } from '@nestjs/common';
import type { ActivityCountView, ActivityView, HistoryRange } from '@headgate/api-contracts';
import { Clock, FleetAuditLog } from '@headgate/domain-contracts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The length of the spans of each range, and their number. */
const SPANS: Readonly<Record<HistoryRange, { readonly stepMs: number; readonly spans: number }>> = {
  '1h': { stepMs: MINUTE_MS, spans: 60 },
  '24h': { stepMs: 10 * MINUTE_MS, spans: 144 },
  '7d': { stepMs: HOUR_MS, spans: 168 },
  '30d': { stepMs: 6 * HOUR_MS, spans: 120 },
};

/** The counts of spans that are over. */
interface PastCounts {
  /** When the first span began that is not over, in milliseconds since the epoch. */
  readonly until: number;
  readonly counts: readonly ActivityCountView[];
}

/**
 * Counts the actions of the journal over a range. Entries have the time at which they are written, so spans that are
 * over are counted once: a full journal takes 160 ms.
 */
@Injectable()
export class ReadActivity {
  private readonly past = new Map<HistoryRange, PastCounts>();

  constructor(
    private readonly journal: FleetAuditLog,
    private readonly clock: Clock,
  ) {}

  read(range: HistoryRange): ActivityView {
    const { stepMs, spans } = SPANS[range];
    // Multiples of the length: the counts of a span stay the same while the range moves on.
    const to = (Math.floor(this.clock.now() / stepMs) + 1) * stepMs;
    const from = to - spans * stepMs;
    const known = this.knownUntil(to, range);
    const since = Math.max(from, known.until);
    const counts = [
      ...known.counts.filter(({ t }) => t >= from),
      ...this.journal
        .countActions({ since, spanMs: stepMs })
        .map(({ span, ...numbers }) => ({ t: since + span * stepMs, ...numbers }))
        // Entries of a clock that was ahead are left out.
        .filter(({ t }) => t < to),
    ];
    const until = to - stepMs;
    this.past.set(range, { until, counts: counts.filter(({ t }) => t < until) });
    return { range, from, to, stepMs, counts };
  }

  /** Nothing is known after the clock was set back: the spans that were over go on. */
  private knownUntil(to: number, range: HistoryRange): PastCounts {
    const known = this.past.get(range);
    return known && known.until < to ? known : { until: 0, counts: [] };
  }
}
