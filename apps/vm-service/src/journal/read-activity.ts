import { Injectable } from '@nestjs/common';
import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
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

/** Counts the actions of the journal over a range. */
@Injectable()
export class ReadActivity {
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly clock: Clock,
  ) {}

  read(range: HistoryRange): ActivityView {
    const { stepMs, spans } = SPANS[range];
    // Multiples of the length: the counts of a span stay the same while the range moves on.
    const to = (Math.floor(this.clock.now() / stepMs) + 1) * stepMs;
    const from = to - spans * stepMs;
    const counts = this.journal
      .countActions({ since: from, spanMs: stepMs })
      // Entries of a clock that was ahead.
      .filter(({ span }) => span < spans)
      .map(({ span, ...numbers }) => ({ t: from + span * stepMs, ...numbers }));
    return { range, from, to, stepMs, counts };
  }
}
