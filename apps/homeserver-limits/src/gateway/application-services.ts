import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '@headgate/matrix-protocol';
import { ConfigError } from '@headgate/nest-kit';
import { parse } from 'yaml';
import { digest } from '../homeserver/digest.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { ActingFor } from './acting-for.js';

interface ApplicationService {
  senderUserId: string;
  rateLimited: boolean;
}

/** The application services of the homeserver, recognised by their tokens. */
export class ApplicationServices {
  private constructor(private readonly byToken: ReadonlyMap<string, ApplicationService>) {}

  /** @throws ConfigError naming the registration file that cannot be used */
  static read(paths: readonly string[], serverName: string): ApplicationServices {
    return new ApplicationServices(new Map(paths.map((path) => readRegistration(path, serverName))));
  }

  /** The caller behind an application service's token; undefined for the token of anybody else. */
  callerOf(token: string, acting: ActingFor): Caller | undefined {
    const service = this.byToken.get(digest(token));
    if (!service) return undefined;
    const { senderUserId, rateLimited } = service;
    const { userId = senderUserId, deviceId } = acting;
    // The exemption is for the users a service speaks for, not for the service's own sender.
    const exemptFromRates = !rateLimited && userId !== senderUserId;
    return { userId, exemptFromRates, ...(deviceId !== undefined && { deviceId }) };
  }
}

function readRegistration(path: string, serverName: string): [string, ApplicationService] {
  const { as_token: token, sender_localpart: localpart, rate_limited: rateLimited = true } = readYaml(path);
  const wrong = (rule: string) => new ConfigError(path, [rule]);
  if (typeof token !== 'string' || token === '') throw wrong('as_token must be a text that is not empty');
  if (typeof localpart !== 'string' || localpart === '')
    throw wrong('sender_localpart must be a text that is not empty');
  if (typeof rateLimited !== 'boolean' && rateLimited !== null) throw wrong('rate_limited must be true or false');
  return [digest(token), { senderUserId: `@${localpart}:${serverName}`, rateLimited: rateLimited !== false }];
}

function readYaml(path: string): JsonObject {
  try {
    const value: unknown = parse(readFileSync(path, 'utf8'));
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new ConfigError(path, [`cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  throw new ConfigError(path, ['must be a registration']);
}
