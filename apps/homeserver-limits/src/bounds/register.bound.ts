import { isJsonObject, MatrixError } from '@headgate/matrix-protocol';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import { exactMembers } from './exact-members.js';
import type { Rates } from './rates.js';

const REGISTER_LIMIT_BYTES = 64 * 1024;

/** Registration: what comes after the first 401, with authentication in it, counts for its source. */
export class RegisterBound extends Bound {
  constructor(private readonly rates: Rates) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const body = await request.json(REGISTER_LIMIT_BYTES);
    exactMembers(body, ['auth']);
    const { auth = null } = body;
    if (auth !== null && !isJsonObject(auth)) throw MatrixError.badJson('auth must be an object.');
    if (auth !== null) await this.rates.count(this.rates.register, request.source);
    return next();
  }
}
