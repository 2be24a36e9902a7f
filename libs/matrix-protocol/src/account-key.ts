import { parseUserId } from './identifiers.js';

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
 */
export function accountKey(login: LoginIdentity, ourServer: string): string | undefined {
  const identifier = record(login.identifier);
  const user =
    identifier.type === 'm.id.user' ? identifier.user : login.identifier === undefined ? login.user : undefined;
  if (typeof user === 'string') return userKey(user, ourServer);
  if (identifier.type === 'm.id.phone') return phoneKey(identifier.country, identifier.phone);
  const { medium, address } = identifier.type === 'm.id.thirdparty' ? identifier : record(login);
  return typeof medium === 'string' && typeof address === 'string' ? thirdPartyKey(medium, address) : undefined;
}

function userKey(user: string, ourServer: string): string {
  const named = user.trim();
  const id = parseUserId(named.startsWith('@') ? named : `@${named}`);
  const own = id === undefined || id.server.toLowerCase() === ourServer.toLowerCase();
  const localpart = id === undefined ? named.replace(/^@/, '') : id.localpart;
  return own ? `user:${localpart.toLowerCase()}` : `user:${localpart.toLowerCase()}:${id.server.toLowerCase()}`;
}

const thirdPartyKey = (medium: string, address: string): string =>
  medium.toLowerCase() === 'msisdn'
    ? `msisdn:${address.replace(/\D/g, '')}`
    : `${medium.toLowerCase()}:${address.trim().toLowerCase()}`;

// A number dialled nationally is only unique together with its country.
function phoneKey(country: unknown, phone: unknown): string | undefined {
  if (typeof phone !== 'string') return undefined;
  const digits = phone.replace(/\D/g, '');
  if (phone.trim().startsWith('+')) return `msisdn:${digits}`;
  return `phone:${typeof country === 'string' ? country.toUpperCase() : ''}:${digits.replace(/^0+/, '')}`;
}
