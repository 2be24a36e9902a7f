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
import { RoomPictures } from './room-pictures.js';
import { BEGINNING, readSyncToken, type SyncToken, writeSyncToken } from './sync-token.js';

const LONGEST_WAIT_MS = 30_000;

/**
 * As much of sync as it takes to see what the bounded operations did: rooms with their latest events, invitations, account
 * data with tags, and key counts. No filters, no presence, no typing, no receipts.
 */
@Injectable()
export class SyncHandlers extends Handlers {
  private readonly pictures: RoomPictures;

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
    this.pictures = new RoomPictures(rooms);
  }

  override readonly handlers = { sync: (request: MatrixRequest) => this.sync(request) };

  private async sync(request: MatrixRequest): Promise<MatrixResponse> {
    const caller = this.identity.require(request);
    const wait = waitOf(request);
    const token = readSyncToken(request.query.get('since'));
    // A token from beyond the end was given by a store that is no more.
    const since = token.seq > this.rooms.lastSeq() ? BEGINNING : token;
    if (since.seq > 0 && wait > 0) await this.somethingNew(request, caller, since, wait);
    return ok(this.picture(caller, since));
  }

  private async somethingNew(request: MatrixRequest, caller: EmbeddedCaller, since: SyncToken, wait: number) {
    const gone = new AbortController();
    const leave = () => gone.abort();
    request.raw.socket.once('close', leave);
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(wait)]);
    while (!this.hasNews(caller, since) && (await this.changes.next(signal)));
    request.raw.socket.off('close', leave);
  }

  private hasNews({ userId }: EmbeddedCaller, since: SyncToken): boolean {
    return this.positions.of(userId) > since.data || this.rooms.hasNews(userId, since.seq);
  }

  private picture(caller: EmbeddedCaller, since: SyncToken): JsonObject {
    const { userId, deviceId } = caller;
    const next = { seq: this.rooms.lastSeq(), data: this.positions.of(userId) };
    const initial = since.seq === 0;
    const moved = (roomId: string) => this.pictures.movedSince(roomId, caller, since.seq);
    const dataIn = this.dataReader(caller, since, initial || next.data > since.data);
    const join = this.rooms.roomsOf(userId, 'join').flatMap((roomId) => {
      const fresh = initial || moved(roomId);
      const room = this.pictures.joined(roomId, caller, fresh ? 0 : since.seq, dataIn(roomId, fresh));
      return room ? [[roomId, room] as const] : [];
    });
    const invited = this.rooms.roomsOf(userId, 'invite').filter(moved);
    const left = initial ? [] : ['leave', 'ban'].flatMap((how) => this.rooms.roomsOf(userId, how)).filter(moved);
    return {
      next_batch: writeSyncToken(next),
      account_data: { events: dataIn('', initial) },
      rooms: {
        join: Object.fromEntries(join),
        invite: Object.fromEntries(invited.map((roomId) => [roomId, this.pictures.invited(roomId, caller)])),
        leave: Object.fromEntries(left.map((roomId) => [roomId, this.pictures.left(roomId, caller)])),
      },
      device_one_time_keys_count: this.keys.counts(userId, deviceId),
    };
  }

  /** Reads the account data of a scope: all of it once something has changed, or where `whole` is asked for. */
  private dataReader({ userId }: EmbeddedCaller, since: SyncToken, changed: boolean) {
    // Who begins has nothing that could be gone.
    const deleted = since.seq > 0 && changed ? this.accountData.deletedSince(userId, since.data) : [];
    const all = changed ? [...deleted, ...this.accountData.all(userId)] : [];
    return (scope: string, whole: boolean): JsonObject[] => {
      const entries = changed || !whole ? all : this.accountData.all(userId);
      const tags = changed || whole ? this.tags.of(userId, scope) : {};
      const events = entries.filter((entry) => entry.scope === scope).map(({ type, content }) => ({ type, content }));
      // The tags of a room are one entry, last so that it comes after one that was written by hand.
      return Object.keys(tags).length === 0 ? events : [...events, { type: 'm.tag', content: { tags } }];
    };
  }
}

function waitOf(request: MatrixRequest): number {
  const given = request.query.get('timeout') ?? '0';
  if (!/^[0-9]{1,12}$/.test(given)) throw MatrixError.invalidParam('timeout is a number of milliseconds.');
  return Math.min(LONGEST_WAIT_MS, Number(given));
}
