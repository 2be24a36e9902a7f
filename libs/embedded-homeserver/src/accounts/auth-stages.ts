import type { JsonObject, MatrixErrorBody } from '@headgate/matrix-protocol';
import { digest } from '@headgate/homeserver-contracts';

/** A stage of user-interactive authentication. */
export interface AuthStage {
  readonly type: string;
  /** The error of an attempt; undefined when it completes the stage. */
  check(auth: JsonObject): MatrixErrorBody | undefined;
}

/** Requires nothing. */
export const dummyStage: AuthStage = { type: 'm.login.dummy', check: () => undefined };

/** The stage of registration: a token where there are any, otherwise the dummy stage. */
export const authStageFor = (tokens: readonly string[]): AuthStage =>
  tokens.length === 0 ? dummyStage : registrationTokenStage(tokens);

/** Requires one of the registration tokens that the operator has issued. */
export function registrationTokenStage(tokens: readonly string[]): AuthStage {
  // Comparing digests leaks nothing about the tokens through its duration.
  const known = new Set(tokens.map(digest));
  return {
    type: 'm.login.registration_token',
    check: ({ token }) =>
      typeof token === 'string' && known.has(digest(token))
        ? undefined
        : { errcode: 'M_UNAUTHORIZED', error: 'This registration token is not valid.' },
  };
}
