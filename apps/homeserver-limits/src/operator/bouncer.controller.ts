import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  All,
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  Injectable,
  Query,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { AddressBlock } from '../state/address-blocks.js';
import { BadFilter, decisionFilter, type DecisionFilter, type Query as Filters } from '../blocks/decision-filter.js';
import { decisionOf, type LapiDecision } from '../blocks/lapi-decision.js';
import { BlockExport } from './block-export.js';
import { Public, refuseOtherPages } from './operator.guard.js';

const JSON_TYPE = 'application/json; charset=utf-8';
/** What a bouncer without other wishes gets. */
const USUAL_SCOPES = 'ip,range';

interface BouncerRequest {
  readonly headers: IncomingHttpHeaders;
  readonly raw: IncomingMessage;
  /** Set by the guard. */
  bouncer?: string;
}

/** Admits bouncers with a key, and no others: operators have an API of their own. */
@Injectable()
export class BouncerGuard implements CanActivate {
  constructor(private readonly blocks: BlockExport) {}

  /** @throws HttpException 403 */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<BouncerRequest>();
    refuseOtherPages(request.headers);
    const key = request.headers['x-api-key'];
    const bouncer = typeof key === 'string' ? this.blocks.bouncers.nameOf(key) : undefined;
    if (bouncer === undefined) throw new HttpException('access forbidden', 403);
    request.bouncer = bouncer;
    return true;
  }
}

/** Errors as CrowdSec's local API writes them: `{"message": …}`. */
@Catch()
export class BouncerErrorFilter implements ExceptionFilter {
  catch(error: Error & { status?: unknown }, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
    const status = error instanceof BadFilter ? 400 : typeof error.status === 'number' ? error.status : 500;
    reply.status(status).send({ message: status === 500 ? 'the decisions could not be read' : error.message });
  }
}

/**
 * The blocks of addresses as decisions, in the form of CrowdSec's local API, so that its bouncers and other gateways
 * read them. Source: https://docs.crowdsec.net/docs/next/local_api/bouncers. An empty list is `null`, as there: bouncers
 * compare the text.
 */
@Controller('v1')
@UseGuards(BouncerGuard)
@UseFilters(BouncerErrorFilter)
export class BouncerController {
  constructor(private readonly blocks: BlockExport) {}

  /** The decisions that a filter selects. */
  @Public()
  @Get('decisions')
  @Header('Content-Type', JSON_TYPE)
  decisions(@Query() query: Filters): string {
    const filter = decisionFilter(query, { isLenient: false });
    return JSON.stringify(this.listOf(this.blocks.source?.current() ?? [], filter));
  }

  /** The changes since the last request of this bouncer, or everything with `startup=true`. */
  @Public()
  @Get('decisions/stream')
  @Header('Content-Type', JSON_TYPE)
  stream(@Query() query: Filters, @Req() { bouncer = '', raw }: BouncerRequest): string {
    const filter = decisionFilter({ scopes: USUAL_SCOPES, ...query }, { isLenient: true });
    const { source } = this.blocks;
    const reader = `bouncer:${bouncer}`;
    const known = query['startup'] === 'true' ? undefined : source?.positionOf(reader);
    const { added = [], ended = [], position = 0 } = source?.since(known) ?? {};
    // A HEAD has no body, so the bouncer has not seen these changes.
    if (raw.method !== 'HEAD') source?.advance(reader, position);
    return JSON.stringify({ deleted: this.listOf(ended, filter), new: this.listOf(added, filter) });
  }

  /** Newer bouncers report their usage, and do without when there is no such route. */
  @Public()
  @All('*')
  unknown(): never {
    throw new HttpException('there is no such route', 404);
  }

  private listOf(blocks: readonly AddressBlock[], filter: DecisionFilter): readonly LapiDecision[] | null {
    const { source } = this.blocks;
    const nowMs = Date.now();
    const decisions = blocks.map((block) => decisionOf(block, source?.origin ?? '', nowMs)).filter(filter);
    return decisions.length > 0 ? decisions : null;
  }
}
