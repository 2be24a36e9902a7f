import { createHash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { type Caller, delayedHolder, deviceHolder, Holdings, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { AccountDataSeed } from './account-data-seed.js';
import { UpstreamQueries, queryFailure, type QueryResult } from './upstream-queries.js';
import { HoldingsCache } from './holdings-cache.js';

const CLIENT = '/_matrix/client/v3';
/** The list of delayed events, as deployed and as accepted by the specification. */
const DELAYED = ['/_matrix/client/unstable/org.matrix.msc4140/delayed_events', '/_matrix/client/v1/delayed_events'];

/**
 * The upstream's own counts, queried with the callers' tokens. While the upstream does not report a count, writes under
 * that cap are refused: a guess would not be a bound.
 */
@Injectable()
export class UpstreamHoldings extends Holdings {
  /** By user and path, so that each user has one query per list in progress. */
  private readonly lists = new Map<string, Promise<QueryResult>>();

  constructor(
    private readonly upstream: UpstreamQueries,
    private readonly cache: HoldingsCache,
    private readonly seed: AccountDataSeed,
  ) {
    super();
  }

  /** No homeserver lists filters, so these are the observed IDs. */
  override filters({ userId }: Caller): number {
    return this.cache.filters(userId);
  }

  override hasFilter({ userId }: Caller, filter: JsonObject): boolean {
    const fingerprint = filterFingerprint(filter);
    return fingerprint !== undefined && this.cache.hasFilter(userId, fingerprint);
  }

  /** Until the upstream has listed them, only the observed types count. */
  override async accountData({ userId }: Caller, request: MatrixRequest): Promise<number> {
    await this.seed.ensure(userId, request);
    return this.cache.accountData(userId);
  }

  override async hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Promise<boolean> {
    if (this.cache.hasAccountData(caller.userId, scope, type)) return true;
    const room = scope === '' ? '' : `/rooms/${encodeURIComponent(scope)}`;
    const path = `${CLIENT}/user/${encodeURIComponent(caller.userId)}${room}/account_data/${encodeURIComponent(type)}`;
    const held = await this.upstream.exists(request, path);
    if (held) this.cache.addAccountData(caller.userId, scope, type);
    return held;
  }

  /** The result to an empty upload has the counts. */
  override async oneTimeKeys({ userId, deviceId = '' }: Caller, request: MatrixRequest): Promise<number> {
    const holder = deviceHolder(userId, deviceId);
    const observed = this.cache.observedKeys(holder);
    const result = await this.upstream.asCaller(request, 'POST', `${CLIENT}/keys/upload`, {});
    const reported = result.status === 200 ? reportedKeys(result.body) : undefined;
    if (reported === undefined)
      throw queryFailure(result, 'The homeserver did not report the number of one-time keys.');
    return this.cache.oneTimeKeys(holder, reported, observed);
  }

  override async pushers(caller: Caller, request: MatrixRequest): Promise<number> {
    return (await this.listPushers(caller, request)).length;
  }

  override async hasPusher(caller: Caller, appId: string, pushkey: string, request: MatrixRequest): Promise<boolean> {
    const pushers = await this.listPushers(caller, request);
    return pushers.some((pusher) => isJsonObject(pusher) && pusher.app_id === appId && pusher.pushkey === pushkey);
  }

  override async delayedEvents(caller: Caller, roomId: string, request: MatrixRequest): Promise<number> {
    for (const path of DELAYED) {
      const result = await this.list(caller, request, path);
      const events = result.status === 200 ? result.body?.delayed_events : undefined;
      if (Array.isArray(events))
        return events.filter((event) => isJsonObject(event) && event.room_id === roomId).length;
      if (!isUnknownEndpoint(result)) throw queryFailure(result, 'The homeserver did not list the delayed events.');
    }
    // Not every homeserver lists them. Then the events scheduled through this gateway count.
    return this.cache.delayedEvents(delayedHolder(caller.userId, roomId));
  }

  override wasScheduled(caller: Caller, request: MatrixRequest): boolean {
    return this.cache.wasScheduled(caller, request);
  }

  private async listPushers(caller: Caller, request: MatrixRequest): Promise<unknown[]> {
    const result = await this.list(caller, request, `${CLIENT}/pushers`);
    const pushers = result.status === 200 ? result.body?.pushers : undefined;
    if (!Array.isArray(pushers)) throw queryFailure(result, 'The homeserver did not list the pushers.');
    return pushers;
  }

  private list({ userId }: Caller, request: MatrixRequest, path: string): Promise<QueryResult> {
    const key = `${userId} ${path}`;
    const running = this.lists.get(key);
    if (running) return running;
    const list = this.upstream.list(request, path).finally(() => this.lists.delete(key));
    this.lists.set(key, list);
    return list;
  }
}

/** Servers respond to an unknown endpoint with 404 or 405, some with 400 and this code. */
const isUnknownEndpoint = ({ status, body }: QueryResult): boolean =>
  status === 404 || status === 405 || body?.errcode === 'M_UNRECOGNIZED';

/** The one-time keys of a device in the result to an upload, over all algorithms; undefined without their number. */
export function reportedKeys(body: JsonObject | undefined): number | undefined {
  const counts = body?.one_time_key_counts;
  if (!isJsonObject(counts)) return undefined;
  return Object.values(counts).reduce<number>(
    (sum, count) => sum + (Number.isInteger(count) ? Math.max(0, Number(count)) : 0),
    0,
  );
}

/** A filter with more values is not recognized again: its canonical form would take too long. */
const MAX_FILTER_VALUES = 1_000;

/** Identifies a filter by its content. Undefined for a body without a canonical form, or with too many values. */
export function filterFingerprint(filter: JsonObject): string | undefined {
  if (countValues(filter, MAX_FILTER_VALUES) > MAX_FILTER_VALUES) return undefined;
  try {
    return createHash('sha256').update(canonicalJson(filter)).digest('base64url');
  } catch {
    return undefined;
  }
}

/** The number of values in a value, up to the first one beyond `max`. */
function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    count += countValues(inner, max - count);
    if (count > max) break;
  }
  return count;
}
