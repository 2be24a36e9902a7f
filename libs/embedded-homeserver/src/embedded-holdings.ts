import type { JsonObject } from '@headgate/matrix-protocol';
import { type Caller, Holdings, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { AccountData, deletesAccountData } from './account-data/account-data.js';
import { Database } from './database.js';
import { DelayedEvents } from './delayed-events/delayed-events.js';
import { DeviceKeys } from './devices/device-keys.js';
import { readKeysUpload } from './devices/keys-upload.js';
import { canonicalFilter } from './filters/filter-shape.js';
import { describePusher } from './push/pusher-shape.js';
import { storedJson } from './request-json.js';
import { Transactions } from './sending/transactions.js';

/** Counts from the tables. A malformed write is refused as such before its cap is checked. */
@Injectable()
export class EmbeddedHoldings extends Holdings {
  constructor(
    private readonly db: Database,
    private readonly data: AccountData,
    private readonly keys: DeviceKeys,
    private readonly delayed: DelayedEvents,
    private readonly transactions: Transactions,
  ) {
    super();
  }

  override filters({ userId }: Caller): number {
    return this.db.count('SELECT count(*) AS n FROM filters WHERE user_id = ?', userId);
  }

  override hasFilter({ userId }: Caller, filter: JsonObject): boolean {
    const sql = 'SELECT 1 FROM filters WHERE user_id = ? AND canonical = ?';
    return this.db.get(sql, userId, canonicalFilter(filter)) !== undefined;
  }

  override accountData({ userId }: Caller): number {
    return this.data.count(userId);
  }

  /** An empty object deletes, so it never takes a slot. */
  override async hasAccountData(caller: Caller, scope: string, type: string, request: MatrixRequest): Promise<boolean> {
    return deletesAccountData(await storedJson(request)) || this.data.get(caller.userId, scope, type) !== undefined;
  }

  override async oneTimeKeys({ userId, deviceId = '' }: Caller, request: MatrixRequest): Promise<number> {
    await readKeysUpload(request);
    return this.keys.held(userId, deviceId);
  }

  override pushers({ userId }: Caller): number {
    return this.db.count('SELECT count(*) AS n FROM pushers WHERE user_id = ?', userId);
  }

  override async hasPusher(caller: Caller, appId: string, pushkey: string, request: MatrixRequest): Promise<boolean> {
    describePusher(await storedJson(request));
    const sql = 'SELECT 1 FROM pushers WHERE user_id = ? AND app_id = ? AND pushkey = ?';
    return this.db.get(sql, caller.userId, appId, pushkey) !== undefined;
  }

  override delayedEvents({ userId }: Caller, roomId: string): number {
    return this.delayed.countPending(userId, roomId);
  }

  override wasScheduled({ userId, deviceId = '' }: Caller, request: MatrixRequest): boolean {
    return this.transactions.known({ userId, deviceId }, request) !== undefined;
  }
}
