import {
  type JsonObject,
  MatrixError,
  parseSignedJsonObject,
  parseXMatrix,
  ServerKeys,
  signJson,
  SigningKey,
  verifyXMatrix,
  type XMatrix,
} from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok, TRANSACTION_LIMIT_BYTES } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { Clock } from '@headgate/clock';
import { Database } from '../database.js';
import { DeviceKeys } from '../devices/device-keys.js';
import { claimKeys } from '../devices/keys.handlers.js';
import { Handlers } from '../handlers.js';
import { type CheckedEvent, ReceiveEvents } from './receive-events.js';

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Requests of peers. The response to a transaction is stored with its effects, so that a repetition has none. */
@Injectable()
export class FederationHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly db: Database,
    private readonly deviceKeys: DeviceKeys,
    private readonly signingKey: SigningKey,
    private readonly peerKeys: ServerKeys,
    private readonly events: ReceiveEvents,
    private readonly clock: Clock,
  ) {
    super();
  }

  override readonly handlers = {
    serverKeys: () => ok(this.keyDocument()),
    sendTransaction: (request: MatrixRequest) => this.sendTransaction(request),
    claimKeysForPeer: async (request: MatrixRequest) => {
      const { content } = await this.verified(request);
      return ok({ one_time_keys: claimKeys(this.deviceKeys, content.one_time_keys) });
    },
    federationVersion: () => ok({ server: { name: 'Headgate embedded store' } }),
  };

  private async sendTransaction(request: MatrixRequest): Promise<MatrixResponse> {
    const { origin, content } = await this.verified(request);
    if (content.origin !== origin)
      throw unauthorized('The origin in the body is not the server that signed the request.');
    const txnId = request.param('txnId');
    const known = this.storedResponse(origin, txnId);
    if (known) return ok(known);
    const checked = await this.events.check(origin, Array.isArray(content.pdus) ? content.pdus : []);
    return ok(this.db.transaction(() => this.storedResponse(origin, txnId) ?? this.apply(origin, txnId, checked)));
  }

  private storedResponse(origin: string, txnId: string): JsonObject | undefined {
    const sql = 'SELECT answer FROM federation_transactions WHERE origin = ? AND txn_id = ?';
    const row = this.db.get<{ answer: string }>(sql, origin, txnId);
    return row && JSON.parse(row.answer);
  }

  private apply(origin: string, txnId: string, checked: CheckedEvent[]): JsonObject {
    const response = { pdus: this.events.apply(checked) };
    this.db.run('INSERT INTO federation_transactions VALUES (?, ?, ?)', origin, txnId, JSON.stringify(response));
    return response;
  }

  /**
   * A body is parsed only when its server has a known key: parsing takes far longer than receiving.
   * @throws MatrixError 401 M_UNAUTHORIZED; M_BAD_JSON for a body without canonical form
   */
  private async verified(request: MatrixRequest): Promise<{ origin: string; content: JsonObject }> {
    const { method, target: uri } = request;
    const destination = this.options.serverName;
    for (const header of xMatrixHeaders(request)) {
      const publicKey = await this.publicKeyOf(header);
      if (publicKey === undefined) continue;
      const content = parseSignedJsonObject(await request.bytes(TRANSACTION_LIMIT_BYTES));
      const signedRequest = { method, uri, origin: header.origin, destination, content };
      if (verifyXMatrix(header, signedRequest, publicKey)) return { origin: header.origin, content };
    }
    throw unauthorized('No signature of this request could be verified.');
  }

  private async publicKeyOf({ destination, origin, key }: XMatrix) {
    if (destination !== undefined && destination !== this.options.serverName) return undefined;
    return this.peerKeys.find(origin, key);
  }

  private keyDocument() {
    const document = {
      server_name: this.options.serverName,
      verify_keys: { [this.signingKey.id]: { key: this.signingKey.publicKey } },
      old_verify_keys: {},
      valid_until_ts: this.clock.now() + KEY_LIFETIME_MS,
    };
    return signJson(document, this.options.serverName, this.signingKey);
  }
}

const unauthorized = (message: string) => new MatrixError(401, 'M_UNAUTHORIZED', message);

function* xMatrixHeaders({ raw: { rawHeaders } }: MatrixRequest): Generator<XMatrix> {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'authorization') continue;
    const header = parseXMatrix(rawHeaders[i + 1] ?? '');
    if (header) yield header;
  }
}
