import { accountKey, isJsonObject } from '@headgate/matrix-protocol';
import {
  type MatrixResponse,
  exactMembers,
  type MatrixRequest,
  MAX_SMALL_JSON_VALUES,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Bound, type Next } from './bound.js';
import { Rules } from '../rules/rules.js';

const LOGIN_LIMIT_BYTES = 64 * 1024;
const MEMBERS = ['type', 'identifier', 'user', 'password', 'medium', 'address'];
const IDENTIFIER_MEMBERS = ['type', 'user', 'medium', 'address', 'country', 'phone', 'number'];

/**
 * Password logins: failures count for the account and for the source. Both windows are checked and reserved before the
 * password is verified, so that parallel guesses cannot exceed them.
 */
@Injectable()
export class LoginBound extends Bound {
  override readonly operations = ['login'] as const;

  constructor(
    private readonly rules: Rules,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const body = await request.json(LOGIN_LIMIT_BYTES, { maxValues: MAX_SMALL_JSON_VALUES });
    exactMembers(body, MEMBERS);
    if (isJsonObject(body.identifier)) exactMembers(body.identifier, IDENTIFIER_MEMBERS);
    if (body.type !== 'm.login.password') return next();
    const account = accountKey(body, this.config.current.server.name);
    return this.rules.run(request, [{ event: 'login', account }], next);
  }
}
