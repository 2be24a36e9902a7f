import { accountKey, isJsonObject } from '@headgate/matrix-protocol';
import type { RateKey } from '@headgate/limits-core';
import { type MatrixResponse, exactMembers, type MatrixRequest, succeeded } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Bound, type Next } from './bound.js';
import { Rates } from '../rules/rates.js';

const LOGIN_LIMIT_BYTES = 64 * 1024;
const MEMBERS = ['type', 'identifier', 'user', 'password', 'medium', 'address'];
const IDENTIFIER_MEMBERS = ['type', 'user', 'medium', 'address', 'country', 'phone', 'number'];

/**
 * Password logins: failures count for the account and for the source. Both windows are checked and reserved before the password is
 * verified, so that parallel guesses cannot exceed them.
 */
@Injectable()
export class LoginBound extends Bound {
  override readonly operations = ['login'] as const;

  constructor(
    private readonly rates: Rates,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const body = await request.json(LOGIN_LIMIT_BYTES);
    exactMembers(body, MEMBERS);
    if (isJsonObject(body.identifier)) exactMembers(body.identifier, IDENTIFIER_MEMBERS);
    if (body.type !== 'm.login.password') return next();
    const account = accountKey(body, this.config.current.server.name);
    const source: RateKey = { rate: this.rates.loginSource, key: request.source };
    const keys = account === undefined ? [source] : [{ rate: this.rates.loginAccount, key: account }, source];
    return this.attempt(keys, next);
  }

  private async attempt(keys: readonly RateKey[], next: Next): Promise<MatrixResponse> {
    const reserved = this.rates.reserve(keys);
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    try {
      const response = await next();
      if (response.status === 403) await reservation.commit();
      else if (succeeded(response)) await this.resetHistory(keys, reservation);
      return response;
    } catch (error) {
      if (isForbidden(error)) await reservation.commit();
      throw error;
    } finally {
      await reservation.release();
    }
  }

  private async resetHistory(keys: readonly RateKey[], reservation: { reset(): unknown }): Promise<void> {
    if (this.config.current.ratelimit.login_success_clears_source) {
      await reservation.reset();
      return;
    }
    // Opt-in: a successful login resets its account only. The source keeps its failures, and this attempt adds none.
    const [account] = keys.filter(({ rate }) => rate === this.rates.loginAccount);
    if (account) await this.rates.windows.reset(account.rate, account.key);
  }
}

const isForbidden = (error: unknown): boolean => (error as { status?: unknown }).status === 403;
