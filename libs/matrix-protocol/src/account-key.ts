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
 * One account, one key, however a login spells it: `alice`, `@alice:our.server` and `Alice` are the same. Unknown accounts
 * are keyed like known ones, so that a refusal tells nobody who exists. Undefined when the body names no account at all.
 * @throws MatrixError M_BAD_JSON when the identifier and the old members beside it name two accounts: servers differ in
 * which of them they take, so that a guess at the one could be counted for the other
 */
export function accountKey(login: LoginIdentity, ourServer: string): string | undefined {
  const named = [
    identifierKey(record(login.identifier), ourServer),
    oldUserKey(login, ourServer),
    thirdPartyKey(login),
  ];
  const [key, other] = new Set(named.filter((candidate) => candidate !== undefined));
  if (other !== undefined) throw MatrixError.badJson('The login names two accounts.');
  return key;
}

const oldUserKey = ({ user }: LoginIdentity, ourServer: string): string | undefined =>
  typeof user === 'string' ? userKey(user, ourServer) : undefined;

function identifierKey(identifier: Record<string, unknown>, ourServer: string): string | undefined {
  switch (identifier.type) {
    case 'm.id.user':
      return oldUserKey(identifier, ourServer);
    case 'm.id.phone':
      return phoneKey(identifier.phone) ?? phoneKey(identifier.number);
    case 'm.id.thirdparty':
      return thirdPartyKey(identifier);
    default:
      return undefined;
  }
}

function userKey(user: string, ourServer: string): string {
  const named = folded(user);
  const id = parseUserId(named.startsWith('@') ? named : `@${named}`);
  const own = id === undefined || id.server === folded(ourServer);
  const localpart = id === undefined ? named.replace(/^@/, '') : id.localpart;
  return own ? `user:${localpart}` : `user:${localpart}:${id.server}`;
}

function thirdPartyKey({ medium, address }: LoginIdentity): string | undefined {
  if (typeof medium !== 'string' || typeof address !== 'string') return undefined;
  return medium.toLowerCase() === 'msisdn' ? phoneKey(address) : `${folded(medium)}:${folded(address)}`;
}

// Dialled with its country, from within it or with extra zeros, a number ends the same. What only some servers can read as
// a number (letters, extensions, other digits) shares one budget.
function phoneKey(phone: unknown): string | undefined {
  if (typeof phone !== 'string') return undefined;
  return /[^0-9 ()+.-]/.test(phone) ? 'phone:other' : `phone:${phone.replace(/\D/g, '').slice(-LAST_DIGITS)}`;
}

const LAST_DIGITS = 7;

/** As generously as any server compares: no case in any alphabet, nothing that one cuts off or does not show. */
const folded = (text: string): string =>
  text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[\s\p{C}\p{Z}\u0307]/gu, '');
