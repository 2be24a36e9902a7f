import { Controller, Get, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  ActivityQuery,
  ActivityView,
  JournalFilterDto,
  JournalSummaryView,
  type HistoryRange,
} from '@headgate/api-contracts';
import { Clock, FleetAuditLog } from '@headgate/domain-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { toJournalFilters } from './journal-filters.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The length of the spans of each range, and their number. */
const SPANS: Readonly<Record<HistoryRange, { readonly stepMs: number; readonly spans: number }>> = {
  '1h': { stepMs: MINUTE_MS, spans: 60 },
  '24h': { stepMs: 10 * MINUTE_MS, spans: 144 },
  '7d': { stepMs: HOUR_MS, spans: 168 },
  '30d': { stepMs: 6 * HOUR_MS, spans: 120 },
};

const MAX_CALLERS = 20;

/** The journal in numbers. */
@Controller('api/ext/journal')
export class ActivityController {
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly clock: Clock,
  ) {}

  @Needs(everything('read'))
  @Get('activity')
  @Describe(
    'The number of recorded actions in the last hour, 24 hours, 7 days or 30 days, in spans of a minute, 10 minutes, an hour or 6 hours. Denied requests are not counted.',
    answer(200, ActivityView),
  )
  activity(@Query() { range = '24h' }: ActivityQuery): ActivityView {
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

  @Needs(everything('manage', { doing: 'Reading the journal' }))
  @Get('summary')
  @Describe(
    'How many entries of the journal match, on how many objects, and of which callers; for administrators.',
    answer(200, JournalSummaryView),
  )
  summary(@Query() filters: JournalFilterDto): JournalSummaryView {
    const { callers, ...numbers } = this.journal.summarize({ ...toJournalFilters(filters), limit: MAX_CALLERS });
    return { ...numbers, callers: [...callers] };
  }
}
