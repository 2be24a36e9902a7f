import { type MatrixRequest, type MatrixResponse, UPLOAD_LIMIT_BYTES } from '@headgate/homeserver-contracts';
import type { DecisionListener } from '@headgate/limits-nest';
import { MatrixError } from '@headgate/matrix-protocol';
import { Inject, Injectable } from '@nestjs/common';
import { DECISION_LISTENER } from '../metrics/limits-metrics.js';
import { Bound, type Next } from './bound.js';

/** The length of a media upload, as declared and as it streams by. */
@Injectable()
export class UploadBound extends Bound {
  override readonly operations = ['upload', 'uploadTo'] as const;

  constructor(@Inject(DECISION_LISTENER) private readonly watch: DecisionListener) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    try {
      request.limitStream(UPLOAD_LIMIT_BYTES);
      const response = await next();
      this.watch('media_upload', 'granted');
      return response;
    } catch (error) {
      if (error instanceof MatrixError && error.errcode === 'M_TOO_LARGE') this.watch('media_upload', 'refused');
      throw error;
    }
  }
}

const CREATE_LIMIT_BYTES = 64 * 1024;

/** Reserving an ID for a later upload: no media is in its body. */
@Injectable()
export class CreateMediaBound extends Bound {
  override readonly operations = ['createMedia'] as const;

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (request.hasBody) await request.bytes(CREATE_LIMIT_BYTES);
    return next();
  }
}
