import { Controller, Get, Query, Res } from '@nestjs/common';
import { everything } from '@headgate/access';
import { JournalEntryView, JournalQueryDto } from '@headgate/api-contracts';
import { FleetAuditLog, type JournalQuery } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { Needs } from '../platform/needs.decorator.js';
import { answerList, Describe } from '../platform/answers.decorator.js';
import { toJournalFilters } from './journal-filters.js';
import { presentEntry } from './present-entry.js';

const DEFAULT_LIMIT = 100;

@Controller('api/ext/journal')
export class JournalController {
  constructor(private readonly journal: FleetAuditLog) {}

  @Needs(everything('manage', { doing: 'Reading the journal' }))
  @Get()
  @Describe(
    'Who did what, on all instances and the service itself, newest first; for administrators.',
    answerList(200, JournalEntryView, 'svc-cursor'),
  )
  read(@Query() query: JournalQueryDto, @Res({ passthrough: true }) reply: FastifyReply): JournalEntryView[] {
    const wanted = toJournalQuery(query);
    // One more than asked for shows whether there is a next page.
    const found = this.journal.find({ ...wanted, limit: wanted.limit + 1 });
    const page = found.slice(0, wanted.limit);
    if (found.length > page.length) void reply.header('svc-cursor', String(page.at(-1)?.number));
    return page.map(presentEntry);
  }
}

const toJournalQuery = ({ cursor, limit, ...filters }: JournalQueryDto): JournalQuery => ({
  ...toJournalFilters(filters),
  ...(cursor === undefined ? {} : { before: Number(cursor) }),
  limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
});
