import { isIP } from 'node:net';
import { applyDecorators } from '@nestjs/common';
import { MAX_WINDOW_MS } from '@headgate/limits-core';
import { isServerName, parseUserId } from '@headgate/matrix-protocol';
import { IsBoolean, IsIn, IsInt, Max, Min, ValidateBy, type ValidationOptions } from 'class-validator';

/** A validation rule for a setting, with the end of its error message. */
const rule = (name: string, sentence: string, check: (value: unknown) => boolean, options: ValidationOptions = {}) =>
  ValidateBy(
    { name, validator: { validate: check, defaultMessage: () => `$property must be ${sentence}` } },
    { message: `${options.each ? 'each of ' : ''}$property must be ${sentence}`, ...options },
  );

const textRule = (name: string, sentence: string, check: (value: string) => boolean, options?: ValidationOptions) =>
  rule(name, sentence, (value) => typeof value === 'string' && check(value), options);

/** An integer from 1 to `max`. Zero is refused, because it is a typo with consequences. */
export const WholeNumber = (max: number) =>
  applyDecorators(
    Max(max, { message: `$property must be at most ${max}` }),
    Min(1, { message: '$property must be at least 1' }),
    IsInt({ message: '$property must be an integer' }),
  );

/** More than any account holds. */
export const MAX_CAP = 1_000_000_000;
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

export const Flag = () => IsBoolean({ message: '$property must be true or false' });

export const OneOf = (choices: readonly unknown[], { each = false }: ValidationOptions = {}) =>
  IsIn(choices, { each, message: `${each ? 'each of ' : ''}$property must be one of ${choices.join(', ')}` });

export const FilledText = (options?: ValidationOptions) =>
  textRule('filledText', 'a non-empty string', (value) => value.length > 0, options);

/**
 * A token as it can arrive in a header: white space would be trimmed, and other characters arrive in another encoding.
 */
export const HeaderToken = (length: number) =>
  textRule('headerToken', `at least ${length} characters, all of them visible ASCII`, (value) =>
    new RegExp(`^[!-~]{${length},}$`).test(value),
  );

/** Tokens of operators by name. */
export const OperatorTokens = () =>
  rule(
    'operatorTokens',
    'a table of names (1 to 64 of A-Z a-z 0-9 . _ -) and different tokens of at least 16 visible ASCII characters',
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const tokens = Object.values(value);
      const isNamed = Object.keys(value).every((name) => /^[A-Za-z0-9._-]{1,64}$/.test(name));
      return isNamed && new Set(tokens).size === tokens.length && tokens.every(isHeaderToken);
    },
  );

const isHeaderToken = (value: unknown): boolean => typeof value === 'string' && /^[!-~]{16,}$/.test(value);

export const ServerName = (options?: ValidationOptions) =>
  textRule('serverName', 'a server name', isServerName, options);

/** A token as Matrix defines it: 1 to 64 of these characters. */
export const RegistrationToken = (options?: ValidationOptions) =>
  textRule(
    'registrationToken',
    '1 to 64 of A-Z a-z 0-9 . _ ~ -',
    (value) => /^[A-Za-z0-9._~-]{1,64}$/.test(value),
    options,
  );

/** The origin of a server. Parts that requests would not use, such as a path or a password, are refused. */
export const HttpOrigin = () =>
  textRule('httpOrigin', 'an http or https URL of a host and a port only', (value) => {
    if (!hasScheme(/^https?:$/)(value)) return false;
    const { username, password, pathname, search, hash } = new URL(value);
    return `${username}${password}${search}${hash}` === '' && pathname === '/';
  });

/** The URL of a Redis or Valkey server, with its credentials. */
export const RedisUrl = (options?: ValidationOptions) =>
  textRule(
    'redisUrl',
    'redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE] or rediss:// of the same form',
    isRedisUrl,
    options,
  );

function isRedisUrl(value: string): boolean {
  if (!hasScheme(/^rediss?:$/)(value)) return false;
  const { hostname, pathname, search, hash } = new URL(value);
  return hostname !== '' && /^(?:\/[0-9]*)?$/.test(pathname) && search + hash === '';
}

/** The name of a primary, and the URLs of the sentinels that monitor it. */
export const OneSentinel = () =>
  rule('sentinel', '{ name = "PRIMARY", nodes = ["redis://HOST:PORT", ...] }', (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const { name, nodes, ...rest } = value as Record<string, unknown>;
    if (typeof name !== 'string' || name === '' || Object.keys(rest).length > 0 || !Array.isArray(nodes)) return false;
    return nodes.every((node) => typeof node === 'string' && isRedisUrl(node));
  });

export const WebSocketUrl = () => textRule('webSocketUrl', 'a ws or wss URL', hasScheme(/^wss?:$/));

/** Braces would end the part of a key that selects its slot in a cluster. */
export const KeyPrefix = () =>
  textRule('keyPrefix', '1 to 64 characters without braces', (value) => /^[^{}]{1,64}$/.test(value));

export const Network = (options?: ValidationOptions) => textRule('network', 'an address or CIDR', isNetwork, options);

export const UserId = (options?: ValidationOptions) =>
  textRule('userId', 'a user ID, @NAME:SERVER', (value) => parseUserId(value) !== undefined, options);

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^([1-9][0-9]{0,11})(ms|s|m|h|d)$/;

/** The milliseconds of a valid duration. */
export function parseDuration(text: string): number {
  const [, amount, unit = ''] = DURATION.exec(text) ?? [];
  return Number(amount) * UNITS_MS[unit]!;
}

/** A whole number with its unit. */
export const Duration = () =>
  textRule(
    'duration',
    'a duration such as 30s, 5m, 12h or 400d, and at most 400d',
    (value) => DURATION.test(value) && parseDuration(value) <= MAX_WINDOW_MS,
  );

const MAX_COST = 1_000_000;

/** A table of costs by name. */
export const Costs = (names: readonly string[]) =>
  rule('costs', `a table of costs from 1 to ${MAX_COST} of ${names.join(', ')}`, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const isCost = (cost: unknown) => Number.isInteger(cost) && Number(cost) >= 1 && Number(cost) <= MAX_COST;
    return Object.entries(value).every(([name, cost]) => names.includes(name) && isCost(cost));
  });

/** A table of server names and their URLs. */
export const Peers = () =>
  rule('peers', 'a table of server names and http or https URLs', (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const isUrl = hasScheme(/^https?:$/);
    return Object.entries(value).every(([name, url]) => isServerName(name) && typeof url === 'string' && isUrl(url));
  });

const hasScheme = (scheme: RegExp) => (value: string) => URL.canParse(value) && scheme.test(new URL(value).protocol);

function isNetwork(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
