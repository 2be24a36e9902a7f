import type { JsonObject, MatrixErrorBody } from '@headgate/matrix-protocol';
import { digest } from '@headgate/homeserver-contracts';

/** Something that a caller must do before an operation runs. */
export interface AuthStage {
  readonly type: string;
  /** What is wrong with what the caller did; undefined when it will do. */
  check(auth: JsonObject): MatrixErrorBody | undefined;
}

/** Asks for nothing. */
export const dummyStage: AuthStage = { type: 'm.login.dummy', check: () => undefined };

/** A registration token where there are any, else no stage that takes an effort. */
export const authStageFor = (tokens: readonly string[]): AuthStage =>
  tokens.length === 0 ? dummyStage : registrationTokenStage(tokens);

/** Asks for one of the tokens that the operator gives to those who may register. */
export function registrationTokenStage(tokens: readonly string[]): AuthStage {
  // Digests are compared, so that the time it takes tells nothing about the tokens.
  const known = new Set(tokens.map(digest));
  return {
    type: 'm.login.registration_token',
    check: ({ token }) =>
      typeof token === 'string' && known.has(digest(token))
        ? undefined
        : { errcode: 'M_UNAUTHORIZED', error: 'This registration token is not valid.' },
  };
}
