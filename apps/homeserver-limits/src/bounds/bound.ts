import type { BoundedOperation, MatrixRequest, MatrixResponse } from '@headgate/homeserver-contracts';

export type Next = () => Promise<MatrixResponse>;

/**
 * The bound of one or more operations. It checks a request in the contract's order, throws to refuse it, and otherwise lets the
 * homeserver handle it and settles its reservation by the outcome.
 */
export abstract class Bound {
  abstract readonly operations: readonly BoundedOperation[];

  abstract run(request: MatrixRequest, next: Next): Promise<MatrixResponse>;
}
