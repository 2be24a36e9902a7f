import { Controller, Get, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import { ActivityQuery, ActivityView, JournalFilterDto, JournalSummaryView } from '@headgate/api-contracts';
import { FleetAuditLog } from '@headgate/domain-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { toJournalFilters } from './journal-filters.js';
import { ReadActivity } from './read-activity.js';

const MAX_CALLERS = 20;

/** The journal in numbers. */
@Controller('api/ext/journal')
export class ActivityController {
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly counts: ReadActivity,
  ) {}

  @Needs(everything('read'))
  @Get('activity')
  @Describe(
    'The number of recorded actions in the last hour, 24 hours, 7 days or 30 days, in spans of a minute, 10 minutes, an hour or 6 hours. Denied requests are not counted.',
    answer(200, ActivityView),
  )
  activity(@Query() { range = '24h' }: ActivityQuery): ActivityView {
    return this.counts.read(range);
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
