import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';

/**
 * Deciding about a delayed event has no bound, and no token is demanded: the delay id alone may speak. The body is only
 * read so that the action in it is known when the count goes down.
 */
export class ManageDelayedBound extends Bound {
  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    if (request.params.action === undefined) await request.json(undefined, { optional: true });
    return next();
  }
}
