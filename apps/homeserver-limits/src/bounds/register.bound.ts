import { isJsonObject, MatrixError } from '@headgate/matrix-protocol';
import {
  type MatrixResponse,
  exactMembers,
  type MatrixRequest,
  MAX_SMALL_JSON_VALUES,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Rules } from '../rules/rules.js';

const REGISTER_LIMIT_BYTES = 64 * 1024;

/** Registration: a request with authentication, after the first 401, counts for its source. */
@Injectable()
export class RegisterBound extends Bound {
  override readonly operations = ['register'] as const;

  constructor(private readonly rules: Rules) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const body = await request.json(REGISTER_LIMIT_BYTES, { maxValues: MAX_SMALL_JSON_VALUES });
    exactMembers(body, ['auth']);
    const { auth = null } = body;
    if (auth !== null && !isJsonObject(auth)) throw MatrixError.badJson('auth must be an object.');
    return auth === null ? next() : this.rules.run(request, [{ event: 'registration' }], next);
  }
}
