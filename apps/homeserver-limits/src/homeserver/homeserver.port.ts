import { type Answer, ok } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

/** What stands behind the bounds: an upstream, or the embedded store. */
export abstract class Homeserver {
  abstract answer(request: MatrixRequest, operation: string): Promise<Answer>;

  /** A request that the table of operations does not know. @param methods those its path does have */
  abstract answerUnknown(request: MatrixRequest, methods: () => readonly string[]): Promise<Answer>;

  /** A browser asks whether it may ask. */
  async preflight(_request: MatrixRequest): Promise<Answer> {
    return ok();
  }
}
