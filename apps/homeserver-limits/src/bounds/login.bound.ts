import { type MatrixResponse, type MatrixRequest, MAX_SMALL_JSON_VALUES } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Bound, type Next } from './bound.js';
import { Rules } from '../rules/rules.js';
import { passwordGuess } from './password-guess.js';

const LOGIN_LIMIT_BYTES = 64 * 1024;

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
    const guess = passwordGuess(body, this.config.current.server.name);
    return guess ? this.rules.run(request, [guess], next) : next();
  }
}
