import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError } from '@headgate/matrix-protocol';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';

/** 50 MiB: exactly that many bytes are taken, one more is not. */
export const UPLOAD_LIMIT_BYTES = 52_428_800;

/** Media uploads: the body's length, as declared and as it streams by. */
export class UploadBound extends Bound {
  constructor(private readonly watch: DecisionListener = () => undefined) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    try {
      request.limitStream(UPLOAD_LIMIT_BYTES);
      const answer = await next();
      this.watch('media_upload', 'granted');
      return answer;
    } catch (error) {
      if (error instanceof MatrixError && error.errcode === 'M_TOO_LARGE') this.watch('media_upload', 'refused');
      throw error;
    }
  }
}
