import { type MatrixResponse, type MatrixRequest, MAX_SMALL_JSON_VALUES } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { type RulePart, Rules } from '../rules/rules.js';
import { Bound, type Next } from './bound.js';
import { authIn, outcomeOfGuess, passwordGuess } from './password-guess.js';

const REGISTER_LIMIT_BYTES = 64 * 1024;

/**
 * Registration: a request with authentication, after the first 401, counts for its source. Some servers verify a
 * password in it, of any account. Guests register without authentication: rules count them as an event of their own.
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
    const guest: RulePart[] =
      this.rules.count('guest_registration') && isForGuest(request) ? [{ event: 'guest_registration' }] : [];
    if (!auth) return guest.length === 0 ? next() : this.rules.run(request, guest, next);
    const parts: RulePart[] = [{ event: 'registration' }, ...guest];
    const guess = passwordGuess(auth, this.config.current.server.name);
    if (guess) return this.rules.run(request, [...parts, guess], next, (response) => outcomeOfGuess(response, false));
    if (!this.rules.count('interactive_auth')) return this.rules.run(request, parts, next);
    request.readsResponse = true;
    return this.rules.run(request, [...parts, { event: 'interactive_auth' }], next, (response) =>
      outcomeOfGuess(response, false, auth.type ?? null),
    );
  }
}

/** Of several kinds, servers take the first or the last one. */
const isForGuest = ({ query }: MatrixRequest): boolean =>
  query.getAll('kind').some((kind) => kind.trim().toLowerCase() === 'guest');
