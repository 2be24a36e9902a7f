import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { DecisionHistory, HISTORY_MINUTES } from '../metrics/decision-history.js';
import { type ProposalReport, Proposals } from '../replay/proposal.js';
import type { OperatorIdentity } from '../state/operator-entry.js';
import { OperatorJournal } from '../state/operator-journal.js';
import { Explanations } from './explanations.js';
import { Lifts } from './lifts.js';
import { Operator } from './operator.guard.js';
import { countParameter, reasonIn, required, textIn } from './parameters.js';
import { RefusalStream } from './refusal-stream.js';

const DEFAULT_ENTRIES = 100;
const MAX_SUBJECT_CHARACTERS = 512;

/** A Fastify reply, as far as the stream needs it. */
interface RawReply {
  readonly raw: ServerResponse;
  hijack(): void;
}

/** What the operator's desk shows and does beyond the rates, the caps and the overrides. */
@Controller()
export class DeskDataController {
  constructor(
    private readonly explanations: Explanations,
    private readonly lifts: Lifts,
    private readonly stream: RefusalStream,
    private readonly history: DecisionHistory,
    private readonly journal: OperatorJournal,
    private readonly proposals: Proposals,
  ) {}

  /** The name under which the journal has what the caller does. */
  @Get('operator')
  operator(@Operator() { operator }: OperatorIdentity): JsonObject {
    return { operator };
  }

  /** Why requests of a user, an account or an address are refused. */
  @Get('why')
  async why(@Query('subject') subject: unknown): Promise<JsonObject> {
    const text = required(subject, 'subject');
    if (text.length > MAX_SUBJECT_CHARACTERS)
      throw MatrixError.invalidParam(`subject has at most ${MAX_SUBJECT_CHARACTERS} characters.`);
    return { subject: text, ...(await this.explanations.of(text)) } as unknown as JsonObject;
  }

  /** Lifts the block of a key and forgets its window. */
  @Post('lifts')
  @HttpCode(200)
  async lift(@Operator() operator: OperatorIdentity, @Body() body: unknown): Promise<JsonObject> {
    const [rule, key, reason] = [textIn(body, 'rule'), textIn(body, 'key'), reasonIn(textIn(body, 'reason'))];
    return { rule, key, ...(await this.lifts.lift(operator, rule, key, reason)) } as unknown as JsonObject;
  }

  /** The refusals as server-sent events: `data: {"refusals": […], "skipped": 0}`. */
  @Get('refusals/stream')
  live(@Res() reply: RawReply): void {
    if (this.stream.isFull)
      throw new MatrixError(429, 'M_LIMIT_EXCEEDED', 'Too many streams are open; close a page and try again.');
    reply.hijack();
    this.stream.add(reply.raw);
  }

  /** The decisions of each rule in each minute of the last hour, the oldest first. */
  @Get('decisions')
  decisions(): JsonObject {
    const rules = [...this.history.report()].map(([name, { granted, refused, shadow_refused }]) => ({
      name,
      granted,
      refused,
      shadow_refused,
    }));
    return { minutes: HISTORY_MINUTES, rules };
  }

  /** The latest actions of operators, the newest first. */
  @Get('journal')
  async entries(@Query('limit') limit: unknown): Promise<JsonObject> {
    const entries = await this.journal.latest(countParameter('limit', limit, DEFAULT_ENTRIES));
    return { journal: entries as unknown as JsonObject[] };
  }

  /** Tries proposed rules on the recorded requests. Nothing changes. */
  @Post('replay')
  @HttpCode(200)
  async replay(@Body() body: unknown, @Req() request: { raw: IncomingMessage }): Promise<ProposalReport> {
    const canceled = new AbortController();
    request.raw.socket.once('close', () => canceled.abort());
    return this.proposals.try(textIn(body, 'rules'), canceled.signal);
  }
}
