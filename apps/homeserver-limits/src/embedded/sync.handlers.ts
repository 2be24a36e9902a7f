import { once } from 'node:events';
import type { JsonObject } from '@headgate/matrix-protocol';
import { type Answer, ok } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { AccountData } from './account-data/account-data.js';
import type { Tags } from './account-data/tags.js';
import type { EmbeddedCaller, EmbeddedIdentity } from './accounts/embedded-identity.js';
import type { DeviceKeys } from './devices/device-keys.js';
import { Handlers } from './handlers.js';
import { clientEvent, type Rooms } from './rooms/rooms.js';

const TIMELINE = 20;
const LONGEST_WAIT_MS = 30_000;

/**
 * As much of sync as it takes to see what the bounded operations did: joined rooms with their latest events, account data
 * and key counts. No filters, no presence, no typing, no receipts.
 */
export class SyncHandlers extends Handlers {
  constructor(
    private readonly rooms: Rooms,
    private readonly accountData: AccountData,
    private readonly tags: Tags,
    private readonly keys: DeviceKeys,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = { sync: (request: MatrixRequest) => this.sync(request) };

  private async sync(request: MatrixRequest): Promise<Answer> {
    const caller = this.identity.require(request);
    const since = Number(request.query.get('since')?.slice(1) ?? 0) || 0;
    const wait = Math.min(LONGEST_WAIT_MS, Number(request.query.get('timeout')) || 0);
    if (since > 0 && wait > 0 && this.rooms.lastSeq() <= since) await this.somethingSent(request, wait);
    return ok(this.picture(caller, since));
  }

  private async somethingSent(request: MatrixRequest, wait: number): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort();
    request.raw.socket.once('close', leave);
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(wait)]);
    await once(this.rooms.sent, 'event', { signal }).catch(() => undefined);
    request.raw.socket.off('close', leave);
  }

  private picture(caller: EmbeddedCaller, since: number): JsonObject {
    const data = this.accountData.all(caller.userId);
    const inScope = (scope: string) =>
      data.filter((entry) => entry.scope === scope).map(({ type, content }) => ({ type, content }));
    const joined = this.rooms
      .roomsOf(caller.userId, 'join')
      .map((roomId) => [
        roomId,
        this.room(roomId, caller, since, [...inScope(roomId), ...this.tagsOf(caller, roomId)]),
      ]);
    const invited = this.rooms
      .roomsOf(caller.userId, 'invite')
      .map((roomId) => [roomId, { invite_state: { events: [] } }]);
    return {
      next_batch: `s${this.rooms.lastSeq()}`,
      account_data: { events: inScope('') },
      rooms: { join: Object.fromEntries(joined), invite: Object.fromEntries(invited), leave: {} },
      device_one_time_keys_count: this.keys.counts(caller.userId, caller.deviceId),
    };
  }

  /** The tags of a room are one entry of its account data, last so that it comes after one that was written by hand. */
  private tagsOf({ userId }: EmbeddedCaller, roomId: string): JsonObject[] {
    const tags = this.tags.of(userId, roomId);
    return Object.keys(tags).length === 0 ? [] : [{ type: 'm.tag', content: { tags } }];
  }

  private room(roomId: string, { userId }: EmbeddedCaller, since: number, accountData: JsonObject[]): JsonObject {
    const timeline = this.rooms.timeline(roomId, since, TIMELINE);
    const state = since === 0 ? this.rooms.state(roomId) : [];
    const first = timeline[0]?.seq ?? Infinity;
    return {
      state: { events: state.filter(({ seq }) => seq < first).map((event) => clientEvent(event, userId)) },
      timeline: { events: timeline.map((event) => clientEvent(event, userId)), limited: timeline.length === TIMELINE },
      account_data: { events: accountData },
      ephemeral: { events: [] },
    };
  }
}
