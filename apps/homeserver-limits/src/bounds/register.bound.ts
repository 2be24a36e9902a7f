import { type MatrixResponse, type MatrixRequest, MAX_SMALL_JSON_VALUES } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { Bound, type Next } from './bound.js';
import { authIn, outcomeOfGuess, passwordGuess } from './password-guess.js';

const REGISTER_LIMIT_BYTES = 64 * 1024;

/**
 * Registration: a request with authentication, after the first 401, counts for its source. Some servers verify a
 * password in it, of any account.
 */
@Injectable()
export class RegisterBound extends Bound {
  override readonly operations = ['register'] as const;

  constructor(
    private readonly rules: Rules,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const body = await request.json(REGISTER_LIMIT_BYTES, { maxValues: MAX_SMALL_JSON_VALUES });
    const auth = authIn(body);
    if (!auth) return next();
    const guess = passwordGuess(auth, this.config.current.server.name);
    if (!guess) return this.rules.run(request, [{ event: 'registration' }], next);
    return this.rules.run(request, [{ event: 'registration' }, guess], next, (response) =>
      outcomeOfGuess(response, false),
    );
  }
}
