import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { AccountData } from '../account-data/account-data.js';
import { DataPositions } from '../account-data/data-positions.js';
import { Tags } from '../account-data/tags.js';
import { type EmbeddedCaller, EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Changes } from '../changes.js';
import { DeviceKeys } from '../devices/device-keys.js';
import { Handlers } from '../handlers.js';
import { Rooms } from '../rooms/rooms.js';
import { RoomSummaries } from './room-summaries.js';
import { START, readSyncToken, type SyncToken, writeSyncToken } from './sync-token.js';

const MAX_WAIT_MS = 30_000;

/**
 * The part of sync that shows the effects of bounded operations: rooms with their latest events, invitations, account
 * data with tags, and key counts. No filters, presence, typing or receipts.
 */
@Injectable()
export class SyncHandlers extends Handlers {
  private readonly summaries: RoomSummaries;

  constructor(
    private readonly rooms: Rooms,
    private readonly accountData: AccountData,
    private readonly tags: Tags,
    private readonly positions: DataPositions,
    private readonly keys: DeviceKeys,
    private readonly changes: Changes,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
    this.summaries = new RoomSummaries(rooms);
  }

  override readonly handlers = { sync: (request: MatrixRequest) => this.sync(request) };

  private async sync(request: MatrixRequest): Promise<MatrixResponse> {
    const caller = this.identity.require(request);
    const wait = waitOf(request);
    const token = readSyncToken(request.query.get('since'));
    // A token beyond the last event comes from a database that no longer exists.
    const since = token.seq > this.rooms.lastSeq() ? START : token;
    if (since.seq > 0 && wait > 0) await this.waitForNews(request, caller, since, wait);
    return ok(this.summary(caller, since));
  }

  private async waitForNews(request: MatrixRequest, caller: EmbeddedCaller, since: SyncToken, wait: number) {
    const gone = new AbortController();
    const abort = () => gone.abort();
    request.raw.socket.once('close', abort);
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(wait)]);
    while (!this.hasNews(caller, since) && (await this.changes.next(signal)));
    request.raw.socket.off('close', abort);
  }

  private hasNews({ userId }: EmbeddedCaller, since: SyncToken): boolean {
    return this.positions.of(userId) > since.data || this.rooms.hasNews(userId, since.seq);
  }

  private summary(caller: EmbeddedCaller, since: SyncToken): JsonObject {
    const { userId, deviceId } = caller;
    const next = { seq: this.rooms.lastSeq(), data: this.positions.of(userId) };
    const initial = since.seq === 0;
    const membershipChanged = (roomId: string) => this.summaries.membershipChangedSince(roomId, caller, since.seq);
    const dataIn = this.dataReader(caller, since, initial || next.data > since.data);
    const join = this.rooms.roomsOf(userId, 'join').flatMap((roomId) => {
      const isNew = initial || membershipChanged(roomId);
      const room = this.summaries.joined(roomId, caller, isNew ? 0 : since.seq, dataIn(roomId, isNew));
      return room ? [[roomId, room] as const] : [];
    });
    const invited = this.rooms.roomsOf(userId, 'invite').filter(membershipChanged);
    const left = initial
      ? []
      : ['leave', 'ban'].flatMap((membership) => this.rooms.roomsOf(userId, membership)).filter(membershipChanged);
    return {
      next_batch: writeSyncToken(next),
      account_data: { events: dataIn('', initial) },
      rooms: {
        join: Object.fromEntries(join),
        invite: Object.fromEntries(invited.map((roomId) => [roomId, this.summaries.invited(roomId, caller)])),
        leave: Object.fromEntries(left.map((roomId) => [roomId, this.summaries.left(roomId, caller)])),
      },
      device_one_time_keys_count: this.keys.counts(userId, deviceId),
    };
  }

  /** Returns a reader of the account data of a scope: everything after a change, or when `whole` is set. */
  private dataReader({ userId }: EmbeddedCaller, since: SyncToken, changed: boolean) {
    // An initial sync has nothing to delete.
    const deleted = since.seq > 0 && changed ? this.accountData.deletedSince(userId, since.data) : [];
    const all = changed ? [...deleted, ...this.accountData.all(userId)] : [];
    return (scope: string, whole: boolean): JsonObject[] => {
      const entries = changed || !whole ? all : this.accountData.all(userId);
      const tags = changed || whole ? this.tags.of(userId, scope) : {};
      const events = entries.filter((entry) => entry.scope === scope).map(({ type, content }) => ({ type, content }));
      // The tags of a room are one entry. It is last, so that it replaces one that was written as account data.
      return Object.keys(tags).length === 0 ? events : [...events, { type: 'm.tag', content: { tags } }];
    };
  }
}

function waitOf(request: MatrixRequest): number {
  const given = request.query.get('timeout') ?? '0';
  if (!/^[0-9]{1,12}$/.test(given)) throw MatrixError.invalidParam('timeout must be a number of milliseconds.');
  return Math.min(MAX_WAIT_MS, Number(given));
}
