import { canonicalJson, type JsonObject } from '@headgate/matrix-protocol';
import { Holdings } from '../homeserver/holdings.port.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import type { AccountData } from './account-data/account-data.js';
import type { Database } from './database.js';
import type { DelayedEvents } from './delayed-events/delayed-events.js';
import type { DeviceKeys } from './devices/device-keys.js';
import type { Transactions } from './rooms/transactions.js';

/** What callers hold, straight from the tables. */
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
    return this.db.get(sql, userId, canonicalJson(filter)) !== undefined;
  }

  override accountData({ userId }: Caller): number {
    return this.data.count(userId);
  }

  override hasAccountData({ userId }: Caller, scope: string, type: string): boolean {
    return this.data.get(userId, scope, type) !== undefined;
  }

  override oneTimeKeys({ userId, deviceId = '' }: Caller): number {
    return this.keys.held(userId, deviceId);
  }

  override pushers({ userId }: Caller): number {
    return this.db.count('SELECT count(*) AS n FROM pushers WHERE user_id = ?', userId);
  }

  override hasPusher({ userId }: Caller, appId: string, pushkey: string): boolean {
    const sql = 'SELECT 1 FROM pushers WHERE user_id = ? AND app_id = ? AND pushkey = ?';
    return this.db.get(sql, userId, appId, pushkey) !== undefined;
  }

  override delayedEvents({ userId }: Caller, roomId: string): number {
    return this.delayed.countPending(userId, roomId);
  }

  override wasScheduled({ userId, deviceId = '' }: Caller, request: MatrixRequest): boolean {
    return this.transactions.known({ userId, deviceId }, request) !== undefined;
  }
}
