import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

export type Handler = (request: MatrixRequest) => Answer | Promise<Answer>;

/** One area's operations and how they are answered. */
export abstract class Handlers {
  abstract readonly handlers: Readonly<Record<string, Handler>>;
}
