import { createHash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { delayedHolder } from '../bounds/delayed-event.js';
import { Holdings } from '../homeserver/holdings.port.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { AccountDataSeed } from './account-data-seed.js';
import { type AskUpstream, undecided, type UpstreamAnswer } from './ask-upstream.js';
import type { SeenHoldings } from './seen-holdings.js';

const CLIENT = '/_matrix/client/v3';
/** Where the list of delayed events is, in the dialect that is deployed and in the accepted one. */
const DELAYED = ['/_matrix/client/unstable/org.matrix.msc4140/delayed_events', '/_matrix/client/v1/delayed_events'];

/**
 * What callers hold, from the upstream's own answers to questions asked with their own tokens. An upstream that does not
 * say it lets nothing through: a count that is made up would be no bound.
 */
export class UpstreamHoldings extends Holdings {
  /** By user and question, so that a user has one of each under way. */
  private readonly listing = new Map<string, Promise<UpstreamAnswer>>();

  constructor(
    private readonly upstream: AskUpstream,
    private readonly seen: SeenHoldings,
    private readonly seed: AccountDataSeed,
  ) {
    super();
  }

  /** No homeserver lists filters, so these are the ids that came by. */
  override filters({ userId }: Caller): number {
    return this.seen.filters(userId);
  }

  override hasFilter({ userId }: Caller, filter: JsonObject): boolean {
    const print = filterPrint(filter);
    return print !== undefined && this.seen.hasFilter(userId, print);
  }

  /** Until the upstream has told it, what came by counts alone. */
  override async accountData({ userId }: Caller, request: MatrixRequest): Promise<number> {
    await this.seed.of(userId, request);
    return this.seen.accountData(userId);
  }

  override async hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Promise<boolean> {
    if (this.seen.hasAccountData(caller.userId, scope, type)) return true;
    const room = scope === '' ? '' : `/rooms/${encodeURIComponent(scope)}`;
    const path = `${CLIENT}/user/${encodeURIComponent(caller.userId)}${room}/account_data/${encodeURIComponent(type)}`;
    const held = await this.upstream.exists(request, path);
    if (held) this.seen.addAccountData(caller.userId, scope, type);
    return held;
  }

  /** An upload of nothing answers with the counts. */
  override async oneTimeKeys(_caller: Caller, request: MatrixRequest): Promise<number> {
    const answer = await this.upstream.as(request, 'POST', `${CLIENT}/keys/upload`, {});
    const counts = answer.status === 200 ? answer.body?.one_time_key_counts : undefined;
    if (!isJsonObject(counts)) throw undecided(answer, 'The homeserver does not say how many keys are held.');
    return Object.values(counts).reduce<number>(
      (sum, count) => sum + (Number.isInteger(count) ? Math.max(0, Number(count)) : 0),
      0,
    );
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
      const answer = await this.list(caller, request, path);
      const events = answer.status === 200 ? answer.body?.delayed_events : undefined;
      if (Array.isArray(events))
        return events.filter((event) => isJsonObject(event) && event.room_id === roomId).length;
      if (!isUnknownEndpoint(answer)) throw undecided(answer, 'The homeserver does not say which events are delayed.');
    }
    // Not every homeserver lists them; then what was scheduled through here must do.
    return this.seen.delayedEvents(delayedHolder(caller.userId, roomId));
  }

  override wasScheduled(caller: Caller, request: MatrixRequest): boolean {
    return this.seen.wasScheduled(caller, request);
  }

  private async listPushers(caller: Caller, request: MatrixRequest): Promise<unknown[]> {
    const answer = await this.list(caller, request, `${CLIENT}/pushers`);
    const pushers = answer.status === 200 ? answer.body?.pushers : undefined;
    if (!Array.isArray(pushers)) throw undecided(answer, 'The homeserver does not say which pushers there are.');
    return pushers;
  }

  private list({ userId }: Caller, request: MatrixRequest, path: string): Promise<UpstreamAnswer> {
    const mark = `${userId} ${path}`;
    const underway = this.listing.get(mark);
    if (underway) return underway;
    const listing = this.upstream.list(request, path).finally(() => this.listing.delete(mark));
    this.listing.set(mark, listing);
    return listing;
  }
}

/** 404 and 405 alone are what servers answer to what they do not have; some say 400 with this code. */
const isUnknownEndpoint = ({ status, body }: UpstreamAnswer): boolean =>
  status === 404 || status === 405 || body?.errcode === 'M_UNRECOGNIZED';

/** What tells two filters apart; undefined for a body that has no canonical form. */
export function filterPrint(filter: JsonObject): string | undefined {
  try {
    return createHash('sha256').update(canonicalJson(filter)).digest('base64url');
  } catch {
    return undefined;
  }
}
