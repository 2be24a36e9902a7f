import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

export type Next = () => Promise<Answer>;

/**
 * One operation's bound. It looks at the request in the contract's order, refuses by throwing, and otherwise lets the
 * handler behind it answer and settles what it took by how that ended.
 */
export abstract class Bound {
  abstract run(request: MatrixRequest, next: Next): Promise<Answer>;
}

export const succeeded = ({ status }: Answer): boolean => status >= 200 && status < 300;
