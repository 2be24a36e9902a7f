/**
 * Why a login at a provider has failed. `canceled`: the user or the provider refused it; `expired`: it was not begun in
 * this browser, is too old, or was already used; `unreachable`: the provider does not answer; `refused`: its answer is
 * not valid; `claims`: its answer has no login.
 */
export const LOGIN_FAILURES = ['canceled', 'expired', 'unreachable', 'refused', 'claims'] as const;
export type LoginFailure = (typeof LOGIN_FAILURES)[number];

/** The message is for the log of the operator. It has no codes, tokens or secrets. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly failure: LoginFailure,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}
