import { accountKey, isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { exactMembers, jsonBodyOf, type MatrixResponse, succeeded } from '@headgate/homeserver-contracts';
import type { RequestOutcome } from '@headgate/limit-rules';
import type { RulePart } from '../rules/rules.js';

const PASSWORD = 'm.login.password';
const MEMBERS = ['type', 'session', 'identifier', 'user', 'password', 'medium', 'address'];
const IDENTIFIER_MEMBERS = ['type', 'user', 'medium', 'address', 'country', 'phone', 'number'];

/**
 * The attempt to log in to an account that a login, or the `auth` of another request, is. Homeservers verify the
 * password of any account in both.
 * @returns undefined without a password
 * @throws MatrixError M_BAD_JSON for a spelling that servers read differently, or two accounts
 */
export function passwordGuess(login: JsonObject, serverName: string): (RulePart & { event: 'login' }) | undefined {
  exactMembers(login, MEMBERS);
  if (isJsonObject(login.identifier)) exactMembers(login.identifier, IDENTIFIER_MEMBERS);
  return login.type === PASSWORD ? { event: 'login', account: accountKey(login, serverName) } : undefined;
}

/** The `auth` of a request; undefined without one. @throws MatrixError M_BAD_JSON */
export function authIn(body: JsonObject): JsonObject | undefined {
  exactMembers(body, ['auth']);
  const { auth = null } = body;
  if (auth !== null && !isJsonObject(auth)) throw MatrixError.badJson('auth must be an object.');
  return auth ?? undefined;
}

/**
 * What a response says about the password in `auth`, or about the proof of another stage. A wrong one is a 401 there,
 * but so is a right one that leaves further stages, and a token that is not live.
 * @param provesPassword whether a success proves that the password is right. Servers do not verify one that they don't
 *   need, so that a stranger could clear the failures of any account with it.
 * @param stage the `type` of the `auth`
 */
export function outcomeOfGuess(
  response: MatrixResponse,
  provesPassword: boolean,
  stage: unknown = PASSWORD,
): RequestOutcome {
  if (succeeded(response)) return provesPassword ? 'success' : 'other';
  if (response.status === 403) return 'forbidden';
  if (response.status !== 401) return 'other';
  const { errcode, completed } = jsonBodyOf(response) ?? {};
  if (errcode === 'M_UNKNOWN_TOKEN' || errcode === 'M_MISSING_TOKEN') return 'unauthenticated';
  const isPassed = errcode === undefined && Array.isArray(completed) && completed.includes(stage);
  return isPassed ? 'other' : 'forbidden';
}
