import { DomainError, type BulkRequest, type DirectBulkRequest } from '@headgate/domain-contracts';
import { READY_ACTIONS } from './member-readiness.js';

/** A task can be scheduled for at most a year. */
const MAX_DELAY_MS = 366 * 24 * 60 * 60_000;
/** Date and time with `Z` or an offset: a local time would be ambiguous when clocks change. */
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Checks the fields of a bulk request that depend on each other.
 * @param now milliseconds since the epoch
 * @returns the request with its time in UTC
 * @throws DomainError INVALID_INPUT
 */
export function expectRequest(request: DirectBulkRequest, now: number): DirectBulkRequest {
  const { action, force, tag, folder, waitReady, at } = request;
  const takesTag = action === 'tag' || action === 'untag';
  if (takesTag !== (tag !== undefined))
    throw invalid(takesTag ? `tag is missing; ${action} needs it.` : `${action} takes no tag.`);
  const takesFolder = action === 'folder';
  if (takesFolder !== (folder !== undefined))
    throw invalid(takesFolder ? 'folder is missing; folder needs the path of one.' : `${action} takes no folder.`);
  if (force && action !== 'stop') throw invalid('force is only possible with stop.');
  if (waitReady && !READY_ACTIONS.has(action)) throw invalid('waitReady is only possible with start and restart.');
  return at === undefined ? request : { ...request, at: expectFuture(at, now) };
}

/** The request of a task that begins now. */
export const withoutTime = ({ at: _at, ...request }: BulkRequest): BulkRequest => request;

function expectFuture(at: string, now: number): string {
  const time = WITH_OFFSET.test(at) ? Date.parse(at) : NaN;
  if (Number.isNaN(time))
    throw invalid(`at: "${at}" is no time in ISO 8601 with Z or an offset, such as 2026-01-31T22:00:00Z.`);
  const iso = new Date(time).toISOString();
  if (time <= now) throw invalid(`at: ${iso} is not in the future; the clock of the service is at ${utc(now)}.`);
  if (time > now + MAX_DELAY_MS) throw invalid(`at: ${iso} is more than 366 days away.`);
  return iso;
}

const utc = (time: number): string => new Date(time).toISOString();
const invalid = (message: string): DomainError => new DomainError('INVALID_INPUT', message);
