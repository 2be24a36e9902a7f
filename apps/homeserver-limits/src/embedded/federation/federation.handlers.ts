import {
  type FederationRequest,
  MatrixError,
  parseSignedJsonObject,
  parseXMatrix,
  type ServerKeys,
  signJson,
  type SigningKey,
  verifyXMatrix,
  type XMatrix,
} from '@headgate/matrix-protocol';
import { TRANSACTION_LIMIT_BYTES } from '../../bounds/send-transaction.bound.js';
import { type Answer, ok } from '../../wire/answer.js';
import type { MatrixRequest } from '../../wire/matrix-request.js';
import type { WallClock } from '../clock.js';
import type { Database } from '../database.js';
import type { DeviceKeys } from '../devices/device-keys.js';
import { claimKeys } from '../devices/keys.handlers.js';
import { Handlers } from '../handlers.js';

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * What peers ask. A transaction is checked, remembered and answered; its events are not applied, because rooms here have no
 * members elsewhere.
 */
export class FederationHandlers extends Handlers {
  constructor(
    private readonly serverName: string,
    private readonly db: Database,
    private readonly deviceKeys: DeviceKeys,
    private readonly signingKey: SigningKey,
    private readonly peerKeys: ServerKeys,
    private readonly clock: WallClock,
  ) {
    super();
  }

  override readonly handlers = {
    serverKeys: () => ok(this.keyDocument()),
    sendTransaction: (request: MatrixRequest) => this.sendTransaction(request),
    claimKeysForPeer: async (request: MatrixRequest) => {
      const { content } = await this.signed(request);
      return ok({ one_time_keys: claimKeys(this.deviceKeys, content.one_time_keys) });
    },
    federationVersion: () => ok({ server: { name: 'Headgate embedded store' } }),
  };

  private async sendTransaction(request: MatrixRequest): Promise<Answer> {
    const { origin, content } = await this.signed(request);
    if (content.origin !== origin) throw unauthorized('The origin in the body is not the one that signed.');
    const txnId = request.param('txnId');
    const known = 'SELECT answer FROM federation_transactions WHERE origin = ? AND txn_id = ?';
    const answered = this.db.get<{ answer: string }>(known, origin, txnId)?.answer;
    if (answered !== undefined) return ok(JSON.parse(answered));
    const answer = { pdus: {} };
    const sql = 'INSERT INTO federation_transactions VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    this.db.run(sql, origin, txnId, JSON.stringify(answer));
    return ok(answer);
  }

  /** @throws MatrixError 401 M_UNAUTHORIZED; M_BAD_JSON for a body that no signature can cover */
  private async signed(request: MatrixRequest) {
    const content = parseSignedJsonObject(await request.bytes(TRANSACTION_LIMIT_BYTES));
    for (const header of xMatrixHeaders(request)) {
      const { method, target: uri } = request;
      const signedRequest = { method, uri, origin: header.origin, destination: this.serverName, content };
      if (await this.isGenuine(header, signedRequest)) return { origin: header.origin, content };
    }
    throw unauthorized('No signature of this request can be confirmed.');
  }

  private async isGenuine(header: XMatrix, request: FederationRequest): Promise<boolean> {
    if (header.destination !== undefined && header.destination !== this.serverName) return false;
    const publicKey = await this.peerKeys.find(header.origin, header.key);
    return publicKey !== undefined && verifyXMatrix(header, request, publicKey);
  }

  private keyDocument() {
    const document = {
      server_name: this.serverName,
      verify_keys: { [this.signingKey.id]: { key: this.signingKey.publicKey } },
      old_verify_keys: {},
      valid_until_ts: this.clock.now() + KEY_LIFETIME_MS,
    };
    return signJson(document, this.serverName, this.signingKey);
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
