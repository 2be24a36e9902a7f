import type { ErrorCode } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';

const REFUSAL = Symbol('refusal');

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

type WithRefusal = FastifyRequest & { [REFUSAL]?: Refusal };

/** Keeps the error of a request for the journal. */
export const rememberRefusal = (request: FastifyRequest, refusal: Refusal): void => {
  (request as WithRefusal)[REFUSAL] = refusal;
};

export const refusalOf = (request: FastifyRequest): Refusal | undefined => (request as WithRefusal)[REFUSAL];
