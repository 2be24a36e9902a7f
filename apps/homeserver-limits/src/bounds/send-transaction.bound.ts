import {
  exactMembers,
  type MatrixRequest,
  type MatrixResponse,
  MAX_PDUS,
  MAX_TRANSACTION_ID_BYTES,
  TRANSACTION_LIMIT_BYTES,
} from '@headgate/homeserver-contracts';
import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError, parseXMatrix, utf8Length } from '@headgate/matrix-protocol';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from '../config/settings.module.js';
import { DECISION_LISTENER } from '../metrics/limits-metrics.js';
import { Bound, type Next } from './bound.js';

/** The caps on one transaction of a peer. A refusal blocks that peer's queue, so it is logged. */
@Injectable()
export class SendTransactionBound extends Bound {
  override readonly operations = ['sendTransaction'] as const;

  constructor(
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(DECISION_LISTENER) private readonly watch: DecisionListener,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (utf8Length(request.param('txnId')) > MAX_TRANSACTION_ID_BYTES) {
      const message = `A transaction ID has at most ${MAX_TRANSACTION_ID_BYTES} bytes.`;
      throw this.refusal(request, 'federation_transaction_id', message);
    }
    this.watch('federation_transaction_id', 'granted');
    const body = await request.json(TRANSACTION_LIMIT_BYTES);
    exactMembers(body, ['pdus', 'origin']);
    const { pdus } = body;
    if (!Array.isArray(pdus)) throw MatrixError.badJson('pdus must be a list.');
    if (pdus.length > MAX_PDUS) {
      const message = `A transaction has at most ${MAX_PDUS} PDUs; this one has ${pdus.length}.`;
      throw this.refusal(request, 'federation_pdus', message);
    }
    this.watch('federation_pdus', 'granted');
    return next();
  }

  private refusal(request: MatrixRequest, rule: string, message: string): MatrixError {
    this.watch(rule, 'refused');
    const { origin, destination } = parseXMatrix(request.raw.headers.authorization ?? '') ?? {};
    this.log.warn({ rule, origin, destination, address: request.address }, 'a federation transaction was refused');
    return MatrixError.badJson(message);
  }
}
