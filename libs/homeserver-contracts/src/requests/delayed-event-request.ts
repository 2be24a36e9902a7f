import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { exactMembers } from './exact-members.js';

export const DELAY_PARAMETER = 'org.matrix.msc4140.delay';

/** The delay in a request that schedules through the query, or undefined. @throws MatrixError M_INVALID_PARAM */
export function delayInQuery(request: MatrixRequest): number | undefined {
  const given = request.query.getAll(DELAY_PARAMETER);
  if (given.length === 0) return undefined;
  const [text = ''] = given;
  if (given.length > 1 || !/^[0-9]{1,15}$/.test(text)) throw invalidDelay();
  return positive(Number(text));
}

/** The delay in a request that schedules through the body. @throws MatrixError M_BAD_JSON, M_INVALID_PARAM */
export function delayInBody(body: JsonObject): number {
  exactMembers(body, ['content', 'delay_ms', 'state_key']);
  if (!isJsonObject(body.content)) throw MatrixError.badJson('content must be an object.');
  if (body.state_key !== undefined && typeof body.state_key !== 'string') {
    throw MatrixError.badJson('state_key must be a string.');
  }
  if (typeof body.delay_ms !== 'number' || !Number.isSafeInteger(body.delay_ms)) throw invalidDelay();
  return positive(body.delay_ms);
}

function positive(delay: number): number {
  if (delay <= 0) throw invalidDelay();
  return delay;
}

const invalidDelay = () => MatrixError.invalidParam('The delay must be a positive whole number of milliseconds.');

export const delayedHolder = (userId: string, roomId: string): string => `${userId} ${roomId}`;
