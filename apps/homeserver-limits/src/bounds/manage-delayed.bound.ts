import type { MatrixResponse, MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';

/**
 * Managing a delayed event is unbounded, and needs no token: the delay ID authorizes it. The body is read here because
 * its action decides whether the count goes down.
 */
@Injectable()
export class ManageDelayedBound extends Bound {
  override readonly operations = ['manageDelayed'] as const;

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (request.params.action === undefined) await request.json(undefined, { optional: true });
    return next();
  }
}
