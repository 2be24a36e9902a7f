import type { BoundedOperation, MatrixRequest, MatrixResponse } from '@headgate/homeserver-contracts';

/** The part of a request that is known before any of it is read. */
export type PathAndQuery = Pick<MatrixRequest, 'param' | 'hasQuery'>;

export type Next = () => Promise<MatrixResponse>;

/**
 * The bound of one or more operations. It checks a request in the contract's order, throws to refuse it, and otherwise
 * lets the homeserver handle it and settles its reservation by the outcome.
 */
export abstract class Bound {
  abstract readonly operations: readonly BoundedOperation[];

  /**
   * Whether the bound may read or refuse a request with this path and query. It decides on nothing else that is cheap
   * to know.
   */
  appliesTo(_request: PathAndQuery): boolean {
    return true;
  }

  abstract run(request: MatrixRequest, next: Next): Promise<MatrixResponse>;
}
