import { MatrixError, parseXMatrix, utf8Length } from '@headgate/matrix-protocol';
import type { Logger } from 'pino';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import { exactMembers } from './exact-members.js';
import type { DecisionListener } from '@headgate/limits-nest';

export const MAX_PDUS = 50;
export const MAX_TRANSACTION_ID_BYTES = 255;
/** 50 events of 64 KiB and a hundred messages beside them are well below it. */
export const TRANSACTION_LIMIT_BYTES = 13_107_200;

/** What one transaction of a peer may hold. A refusal blocks that peer's queue, so it is logged. */
export class SendTransactionBound extends Bound {
  constructor(
    private readonly log: Logger,
    private readonly watch: DecisionListener = () => undefined,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const idBytes = utf8Length(request.param('txnId'));
    if (idBytes > MAX_TRANSACTION_ID_BYTES) {
      throw this.refusal(
        request,
        'federation_transaction_id',
        `A transaction id has at most ${MAX_TRANSACTION_ID_BYTES} bytes.`,
      );
    }
    this.watch('federation_transaction_id', 'granted');
    const body = await request.json(TRANSACTION_LIMIT_BYTES);
    exactMembers(body, ['pdus', 'origin']);
    const { pdus } = body;
    if (!Array.isArray(pdus)) throw MatrixError.badJson('pdus must be a list.');
    if (pdus.length > MAX_PDUS) {
      throw this.refusal(
        request,
        'federation_pdus',
        `A transaction has at most ${MAX_PDUS} PDUs, this one ${pdus.length}.`,
      );
    }
    this.watch('federation_pdus', 'granted');
    return next();
  }

  private refusal(request: MatrixRequest, rule: string, message: string): MatrixError {
    this.watch(rule, 'refused');
    const { origin, destination } = parseXMatrix(request.raw.headers.authorization ?? '') ?? {};
    this.log.warn({ rule, origin, destination, address: request.address }, 'a transaction of a peer was refused');
    return MatrixError.badJson(message);
  }
}
