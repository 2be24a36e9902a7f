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
      return phoneKey(identifier.country, identifier.phone);
    case 'm.id.thirdparty':
      return thirdPartyKey(identifier);
    default:
      return undefined;
  }
}

function userKey(user: string, ourServer: string): string {
  const named = user.trim();
  const id = parseUserId(named.startsWith('@') ? named : `@${named}`);
  const own = id === undefined || id.server.toLowerCase() === ourServer.toLowerCase();
  const localpart = id === undefined ? named.replace(/^@/, '') : id.localpart;
  return own ? `user:${localpart.toLowerCase()}` : `user:${localpart.toLowerCase()}:${id.server.toLowerCase()}`;
}

function thirdPartyKey({ medium, address }: LoginIdentity): string | undefined {
  if (typeof medium !== 'string' || typeof address !== 'string') return undefined;
  return medium.toLowerCase() === 'msisdn'
    ? `msisdn:${address.replace(/\D/g, '')}`
    : `${medium.toLowerCase()}:${address.trim().toLowerCase()}`;
}

// A number dialled nationally is only unique together with its country.
function phoneKey(country: unknown, phone: unknown): string | undefined {
  if (typeof phone !== 'string') return undefined;
  const digits = phone.replace(/\D/g, '');
  if (phone.trim().startsWith('+')) return `msisdn:${digits}`;
  return `phone:${typeof country === 'string' ? country.toUpperCase() : ''}:${digits.replace(/^0+/, '')}`;
}
