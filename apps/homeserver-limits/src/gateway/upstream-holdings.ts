import { createHash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { delayedHolder } from '../bounds/delayed-event.js';
import { Holdings } from '../homeserver/holdings.port.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { AskUpstream, UpstreamAnswer } from './ask-upstream.js';
import type { SeenHoldings } from './seen-holdings.js';

const CLIENT = '/_matrix/client/v3';
const DELAYED = '/_matrix/client/unstable/org.matrix.msc4140/delayed_events';
/** A first sync with nothing in it but account data. */
const ACCOUNT_DATA_ONLY = {
  presence: { types: [] },
  room: { state: { types: [] }, timeline: { types: [], limit: 1 }, ephemeral: { types: [] }, include_leave: true },
};

/** What callers hold, from the upstream's own answers to questions asked with their own tokens. */
export class UpstreamHoldings extends Holdings {
  constructor(
    private readonly upstream: AskUpstream,
    private readonly seen: SeenHoldings,
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

  override async accountData({ userId }: Caller, request: MatrixRequest): Promise<number> {
    if (!this.seen.accountDataIsSeeded(userId)) await this.seedAccountData(userId, request);
    return this.seen.accountData(userId);
  }

  override async hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Promise<boolean> {
    if (this.seen.hasAccountData(caller.userId, scope, type)) return true;
    const room = scope === '' ? '' : `/rooms/${encodeURIComponent(scope)}`;
    const path = `${CLIENT}/user/${encodeURIComponent(caller.userId)}${room}/account_data/${encodeURIComponent(type)}`;
    const { status } = await this.upstream.as(request, 'GET', path);
    if (status === 200) this.seen.addAccountData(caller.userId, scope, type);
    return status === 200;
  }

  /** An upload of nothing answers with the counts. */
  override async oneTimeKeys(_caller: Caller, request: MatrixRequest): Promise<number> {
    const { body } = await this.upstream.as(request, 'POST', `${CLIENT}/keys/upload`, {});
    const counts = isJsonObject(body?.one_time_key_counts) ? Object.values(body.one_time_key_counts) : [];
    return counts.reduce<number>((sum, count) => sum + (Number.isInteger(count) ? Number(count) : 0), 0);
  }

  override async pushers(_caller: Caller, request: MatrixRequest): Promise<number> {
    return (await this.listPushers(request)).length;
  }

  override async hasPusher(_caller: Caller, appId: string, pushkey: string, request: MatrixRequest): Promise<boolean> {
    const pushers = await this.listPushers(request);
    return pushers.some((pusher) => isJsonObject(pusher) && pusher.app_id === appId && pusher.pushkey === pushkey);
  }

  override async delayedEvents({ userId }: Caller, roomId: string, request: MatrixRequest): Promise<number> {
    const listed = await this.upstream.as(request, 'GET', DELAYED);
    const answer: UpstreamAnswer =
      listed.status === 200 ? listed : await this.upstream.as(request, 'GET', '/_matrix/client/v1/delayed_events');
    const events = answer.status === 200 ? answer.body?.delayed_events : undefined;
    // Not every homeserver lists them; then what was scheduled through here must do.
    if (!Array.isArray(events)) return this.seen.delayedEvents(delayedHolder(userId, roomId));
    return events.filter((event) => isJsonObject(event) && event.room_id === roomId).length;
  }

  override wasScheduled(caller: Caller, request: MatrixRequest): boolean {
    return this.seen.wasScheduled(caller, request);
  }

  private async listPushers(request: MatrixRequest): Promise<unknown[]> {
    const { body } = await this.upstream.as(request, 'GET', `${CLIENT}/pushers`);
    return Array.isArray(body?.pushers) ? body.pushers : [];
  }

  private async seedAccountData(userId: string, request: MatrixRequest): Promise<void> {
    const filter = encodeURIComponent(JSON.stringify(ACCOUNT_DATA_ONLY));
    const { status, body } = await this.upstream.as(request, 'GET', `${CLIENT}/sync?timeout=0&filter=${filter}`);
    if (status !== 200 || !body) return;
    for (const type of typesIn(body)) this.seen.addAccountData(userId, '', type);
    const rooms = isJsonObject(body.rooms) ? body.rooms : {};
    for (const group of [rooms.join, rooms.leave]) {
      for (const [roomId, room] of Object.entries(isJsonObject(group) ? group : {})) {
        // The tags of a room come as one entry, which tags alone make: it is not counted.
        const types = typesIn(room).filter((type) => type !== 'm.tag');
        for (const type of types) this.seen.addAccountData(userId, roomId, type);
      }
    }
    this.seen.accountDataWasSeeded(userId);
  }
}

/** Server-owned types are not written through the bounded endpoint and do not count. */
const NOT_COUNTED = ['m.push_rules', 'm.fully_read'];

function typesIn(part: unknown): string[] {
  const data = isJsonObject(part) && isJsonObject(part.account_data) ? part.account_data.events : undefined;
  if (!Array.isArray(data)) return [];
  const types = data.map((event: unknown) => (isJsonObject(event) ? event.type : undefined));
  return types.filter((type): type is string => typeof type === 'string' && !NOT_COUNTED.includes(type));
}

/** What tells two filters apart; undefined for a body that has no canonical form. */
export function filterPrint(filter: JsonObject): string | undefined {
  try {
    return createHash('sha256').update(canonicalJson(filter)).digest('base64url');
  } catch {
    return undefined;
  }
}
