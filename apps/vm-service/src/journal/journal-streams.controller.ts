import { Readable } from 'node:stream';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { CallerConnections, everything } from '@headgate/access';
import { JournalExportQuery, JournalHeadView, JournalStreamQuery } from '@headgate/api-contracts';
import { Clock, DomainError, FleetAuditLog, type Caller } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StreamConnections } from '../fleet/stream-connections.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { eventText } from '../platform/event-text.js';
import { ExportJournal } from './export-journal.js';
import { JournalFeed } from './journal-feed.js';

const NEED = everything('manage', { doing: 'Reading the journal' });
const RESUMED = Buffer.from(eventText('resumed', {}));
const BEAT = Buffer.from(eventText('beat', {}));
const EXPORT_TYPE = 'application/x-ndjson';

/** The journal as it grows, and as a whole. */
@Controller('api/ext/journal')
export class JournalStreamsController {
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly feed: JournalFeed,
    private readonly exports: ExportJournal,
    private readonly streams: StreamConnections,
    private readonly callers: CallerConnections,
    private readonly clock: Clock,
  ) {}

  @Needs(NEED)
  @Get('stream')
  @Describe(
    'With Accept: text/event-stream, each entry of the journal from now on, or behind the one with the number in Last-Event-ID; for administrators.',
    answer(200, 'text/event-stream'),
  )
  stream(
    @Query() { lastEventId }: JournalStreamQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const { headers } = request;
    if (!headers.accept?.includes('text/event-stream'))
      throw new DomainError('INVALID_INPUT', 'Accept: this is an event stream; it has to be text/event-stream.');
    this.streams.expectRoomFor(caller);
    const resumeFrom = numberOf(headers['last-event-id'] ?? lastEventId);
    const isKnown = resumeFrom !== undefined && resumeFrom <= this.feed.position;
    this.streams.begin({ request, reply, caller }, () => ({
      first: isKnown ? [RESUMED] : [],
      feed: this.feed,
      snapshot: (position) => [Buffer.from(eventText('ready', this.head(), String(position)))],
      resumeFrom: isKnown ? resumeFrom : undefined,
      beat: BEAT,
      // Counted per caller, although the feed is shared: each reads the log at its own pace.
      isOwned: true,
    }));
  }

  @Needs(NEED)
  @Get('export')
  @Describe(
    'The journal as JSON lines, the oldest entry first, with its chain of hashes, for `headgate journal verify`. The last line has the head. For administrators.',
    answer(200, EXPORT_TYPE, 'content-disposition'),
  )
  export(
    @Query() { after = '0' }: JournalExportQuery,
    @CurrentCaller() caller: Caller,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const name = `journal-${this.clock.iso().slice(0, 10)}.jsonl`;
    void reply.headers({ 'content-type': EXPORT_TYPE, 'content-disposition': `attachment; filename="${name}"` });
    if (method === 'HEAD') return void reply.send();
    const pieces = Readable.from(this.exports.open(Number(after)), { highWaterMark: 1 });
    const release = this.callers.closeWith(caller, () => reply.raw.destroy());
    reply.raw.once('close', release);
    void reply.send(pieces);
  }

  @Needs(NEED)
  @Get('head')
  @Describe(
    'The newest entry of the chain. Kept elsewhere, its hash proves later that no entry up to it was changed. For administrators.',
    answer(200, JournalHeadView),
  )
  head(): JournalHeadView {
    return { ...this.journal.head() };
  }
}

const numberOf = (id: string | string[] | undefined): number | undefined =>
  typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
