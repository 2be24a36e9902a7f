import type { JsonObject } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';

interface Sender {
  userId: string;
  deviceId: string;
}

/**
 * Returns the first response to a repeated request. A repetition has the same device and path; transaction IDs of
 * different rooms or event types are unrelated.
 */
@Injectable()
export class Transactions {
  constructor(private readonly db: Database) {}

  known({ userId, deviceId }: Sender, request: MatrixRequest): JsonObject | undefined {
    const sql = 'SELECT answer FROM transactions WHERE user_id = ? AND device_id = ? AND path = ?';
    const row = this.db.get<{ answer: string }>(sql, userId, deviceId, pathOf(request));
    return row && JSON.parse(row.answer);
  }

  /** Does the work and stores its response, both or neither. A request without a transaction ID is always new. */
  once(sender: Sender, request: MatrixRequest, work: () => JsonObject): MatrixResponse {
    const known = this.known(sender, request);
    if (known) return ok(known);
    return this.db.transaction(() => {
      const response = work();
      if (request.params.txnId) {
        const sql = 'INSERT INTO transactions VALUES (?, ?, ?, ?)';
        this.db.run(sql, sender.userId, sender.deviceId, pathOf(request), JSON.stringify(response));
      }
      return ok(response);
    });
  }
}

/** The decoded path without its version, so that every spelling of one request is that request. */
const pathOf = ({ params, target }: MatrixRequest): string => {
  const endpoint = target.includes('/delayed_event/') ? 'delayed_event' : 'send';
  return JSON.stringify([endpoint, params.roomId ?? '', params.eventType ?? '', params.txnId ?? '']);
};
