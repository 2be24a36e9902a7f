import { parseUserId } from './identifiers.js';
import { MatrixError } from './matrix-error.js';

interface LoginIdentity {
  identifier?: unknown;
  user?: unknown;
  medium?: unknown;
  address?: unknown;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/**
 * The rate-limit key of the account that a login names, independent of its spelling: `alice`, `@alice:our.server` and
 * `Alice` give the same key. Unknown accounts get keys too, so that a refusal does not reveal which accounts exist.
 * Undefined if the body names no account.
 * @throws MatrixError M_BAD_JSON when the identifier and the legacy members name different accounts: servers differ in
 *   which
 * one they use, so an attempt on one account could be counted for the other
 */
export function accountKey(login: LoginIdentity, ourServer: string): string | undefined {
  const named = [
    identifierKey(record(login.identifier), ourServer),
    legacyUserKey(login, ourServer),
    thirdPartyKey(login),
  ];
  const [key, other] = new Set(named.filter((candidate) => candidate !== undefined));
  if (other !== undefined) throw MatrixError.badJson('The login names two accounts.');
  return key;
}

const legacyUserKey = ({ user }: LoginIdentity, ourServer: string): string | undefined =>
  typeof user === 'string' ? userKey(user, ourServer) : undefined;

function identifierKey(identifier: Record<string, unknown>, ourServer: string): string | undefined {
  switch (identifier.type) {
    case 'm.id.user':
      return legacyUserKey(identifier, ourServer);
    case 'm.id.phone':
      return phoneKey(identifier.phone) ?? phoneKey(identifier.number);
    case 'm.id.thirdparty':
      return thirdPartyKey(identifier);
    default:
      return undefined;
  }
}

function userKey(user: string, ourServer: string): string {
  const named = normalize(user);
  const id = parseUserId(named.startsWith('@') ? named : `@${named}`);
  const own = id === undefined || id.server === normalize(ourServer);
  const localpart = id === undefined ? named.replace(/^@/, '') : id.localpart;
  return own ? `user:${localpart}` : `user:${localpart}:${id.server}`;
}

function thirdPartyKey({ medium, address }: LoginIdentity): string | undefined {
  if (typeof medium !== 'string' || typeof address !== 'string') return undefined;
  return medium.toLowerCase() === 'msisdn' ? phoneKey(address) : `${normalize(medium)}:${normalize(address)}`;
}

// A number has the same last digits whether or not it is written with a country code or extra zeros. Numbers that only
// some servers can parse (letters, extensions, non-ASCII digits) share one key.
function phoneKey(phone: unknown): string | undefined {
  if (typeof phone !== 'string') return undefined;
  return /[^0-9 ()+.-]/.test(phone) ? 'phone:other' : `phone:${phone.replace(/\D/g, '').slice(-SIGNIFICANT_DIGITS)}`;
}

const SIGNIFICANT_DIGITS = 7;

/**
 * Normalizes at least as much as any known server does: ignores case in all scripts, white space and invisible
 * characters.
 */
const normalize = (text: string): string =>
  text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[\s\p{C}\p{Z}\u0307]/gu, '');
