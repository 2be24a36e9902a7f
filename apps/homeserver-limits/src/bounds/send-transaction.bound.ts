import {
  type MatrixRequest,
  type MatrixResponse,
  MAX_PDUS,
  MAX_TRANSACTION_ID_BYTES,
  TooManyPdus,
  TRANSACTION_LIMIT_BYTES,
  TransactionScanner,
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
    await this.countPdus(request);
    this.watch('federation_pdus', 'granted');
    return next();
  }

  /** Counts while the body arrives, so that a large transaction does not block the process. */
  private async countPdus(request: MatrixRequest): Promise<void> {
    const scanner = new TransactionScanner(MAX_PDUS);
    try {
      await request.bytes(TRANSACTION_LIMIT_BYTES, (chunk) => scanner.push(chunk));
      scanner.end();
    } catch (error) {
      if (!(error instanceof TooManyPdus)) throw error;
      throw this.refusal(request, 'federation_pdus', `A transaction has at most ${MAX_PDUS} PDUs.`);
    }
  }

  private refusal(request: MatrixRequest, rule: string, message: string): MatrixError {
    this.watch(rule, 'refused');
    const { origin, destination } = parseXMatrix(request.raw.headers.authorization ?? '') ?? {};
    this.log.warn({ rule, origin, destination, address: request.address }, 'a federation transaction was refused');
    return MatrixError.badJson(message);
  }
}
