import type { DecisionListener } from '@headgate/limits-nest';
import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import type { LiveConfig } from '../config/live-config.js';
import type { Holdings } from '../homeserver/holdings.port.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { Next } from './bound.js';
import type { Caps } from './caps.js';
import { exactMembers } from './exact-members.js';

export const DELAY_PARAMETER = 'org.matrix.msc4140.delay';

/** The delay in a request that schedules through the query, or undefined. @throws MatrixError M_INVALID_PARAM */
export function delayInQuery(request: MatrixRequest): number | undefined {
  const given = request.query.getAll(DELAY_PARAMETER);
  if (given.length === 0) return undefined;
  const [text = ''] = given;
  if (given.length > 1 || !/^[0-9]{1,15}$/.test(text)) throw notADelay();
  return positive(Number(text));
}

/** The delay in a request that schedules through the body. @throws MatrixError M_BAD_JSON, M_INVALID_PARAM */
export function delayInBody(body: JsonObject): number {
  exactMembers(body, ['content', 'delay_ms', 'state_key']);
  if (!isJsonObject(body.content)) throw MatrixError.badJson('content must be an object.');
  if (body.state_key !== undefined && typeof body.state_key !== 'string') {
    throw MatrixError.badJson('state_key must be a string.');
  }
  if (typeof body.delay_ms !== 'number' || !Number.isSafeInteger(body.delay_ms)) throw notADelay();
  return positive(body.delay_ms);
}

function positive(delay: number): number {
  if (delay <= 0) throw notADelay();
  return delay;
}

const notADelay = () => MatrixError.invalidParam('A delay is a positive whole number of milliseconds.');

/** The two bounds of delayed events: how far ahead, and how many wait in one room. */
export class DelayedEventCaps {
  constructor(
    private readonly caps: Caps,
    private readonly holdings: Holdings,
    private readonly config: LiveConfig,
    private readonly watch: DecisionListener = () => undefined,
  ) {}

  async run(caller: Caller, request: MatrixRequest, delayMs: number, next: Next): Promise<Answer> {
    const longest = this.config.current.delayed_events.max_delay_ms;
    this.watch('longest_delay', delayMs > longest ? 'refused' : 'granted');
    if (delayMs > longest) throw delayTooLong(longest);
    const roomId = request.param('roomId');
    const rewrite = await this.holdings.wasScheduled(caller, request);
    const write = { holder: delayedHolder(caller.userId, roomId), rewrite };
    const count = () => this.holdings.delayedEvents(caller, roomId, request);
    return this.caps.run(this.caps.delayedEvents, write, count, next);
  }
}

export const delayedHolder = (userId: string, roomId: string): string => `${userId} ${roomId}`;

// Clients recognise a delay that is too long by exactly these members, and try again with a shorter one.
const delayTooLong = (longest: number) =>
  new MatrixError(400, 'M_UNKNOWN', `The longest delay is ${longest} ms.`, {
    'org.matrix.msc4140.errcode': 'M_MAX_DELAY_EXCEEDED',
    'org.matrix.msc4140.max_delay': longest,
  });
