import { accountKey, isJsonObject } from '@headgate/matrix-protocol';
import type { RateKey } from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next, succeeded } from './bound.js';
import { exactMembers } from './exact-members.js';
import type { Rates } from './rates.js';

const LOGIN_LIMIT_BYTES = 64 * 1024;
const MEMBERS = ['type', 'identifier', 'user', 'password', 'medium', 'address'];
const IDENTIFIER_MEMBERS = ['type', 'user', 'medium', 'address', 'country', 'phone', 'number'];

/**
 * Password logins: failures count for the account and for the source. Both windows must be open before anybody looks at
 * the password, and room is taken in both first, so that parallel guesses cannot outrun them.
 */
export class LoginBound extends Bound {
  constructor(
    private readonly rates: Rates,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const body = await request.json(LOGIN_LIMIT_BYTES);
    exactMembers(body, MEMBERS);
    if (isJsonObject(body.identifier)) exactMembers(body.identifier, IDENTIFIER_MEMBERS);
    if (body.type !== 'm.login.password') return next();
    const account = accountKey(body, this.config.current.server.name);
    const source: RateKey = { rate: this.rates.loginSource, key: request.source };
    const claims = account === undefined ? [source] : [{ rate: this.rates.loginAccount, key: account }, source];
    return this.attempt(claims, next);
  }

  private async attempt(claims: readonly RateKey[], next: Next): Promise<Answer> {
    const taken = this.rates.reserve(claims);
    const reservation = taken instanceof Promise ? await taken : taken;
    try {
      const answer = await next();
      if (answer.status === 403) await reservation.commit();
      else if (succeeded(answer)) await this.resetHistory(claims, reservation);
      return answer;
    } catch (error) {
      if (isForbidden(error)) await reservation.commit();
      throw error;
    } finally {
      await reservation.release();
    }
  }

  private async resetHistory(claims: readonly RateKey[], reservation: { reset(): unknown }): Promise<void> {
    if (this.config.current.ratelimit.login_success_clears_source) {
      await reservation.reset();
      return;
    }
    // The opt-in: a good login wipes its account only; the source keeps its failures and this attempt adds none.
    const [account] = claims.filter(({ rate }) => rate === this.rates.loginAccount);
    if (account) await this.rates.windows.reset(account.rate, account.key);
  }
}

const isForbidden = (error: unknown): boolean => (error as { status?: unknown }).status === 403;
