import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';

/** 50 MiB: exactly that many bytes are taken, one more is not. */
export const UPLOAD_LIMIT_BYTES = 52_428_800;

/** Media uploads: the body's length, as declared and as it streams by. */
export class UploadBound extends Bound {
  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    request.limitStream(UPLOAD_LIMIT_BYTES);
    return next();
  }
}
