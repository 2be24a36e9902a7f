import { ConfigError } from '@headgate/nest-kit';
import { type Caller, digest } from '@headgate/homeserver-contracts';
import type { AssertedIdentity } from './asserted-identity.js';
import { readRegistration, type Registration } from './registration.js';

/** The application services of the homeserver, identified by their tokens. */
export class ApplicationServices {
  private constructor(private readonly byToken: ReadonlyMap<string, Registration>) {}

  /** @throws ConfigError that names the invalid registration file */
  static read(paths: readonly string[], serverName: string): ApplicationServices {
    const byToken = new Map<string, Registration>();
    for (const path of paths) {
      const registration = readRegistration(path, serverName);
      const key = digest(registration.token);
      if (byToken.has(key)) throw new ConfigError(path, ['as_token is also in another registration']);
      byToken.set(key, registration);
    }
    return new ApplicationServices(byToken);
  }

  /**
   * The caller of a request with an application service's token. Undefined for any other token, and for a user outside
   * the service's namespaces: the homeserver decides whether the service may act as that user.
   */
  callerOf(token: string, { userId, deviceId }: AssertedIdentity): Caller | undefined {
    const service = this.byToken.get(digest(token));
    if (!service) return undefined;
    const actingUserId = userId ?? service.senderUserId;
    const isSender = actingUserId === service.senderUserId;
    if (!isSender && !service.users.some((users) => users.test(actingUserId))) return undefined;
    return {
      userId: actingUserId,
      exemptFromRates: isExempt(service, actingUserId),
      ...(deviceId !== undefined && { deviceId }),
      ...(service.id !== undefined && { appservice: service.id }),
    };
  }

  /** The ID of the application service with this token. */
  idOf(token: string): string | undefined {
    return this.byToken.get(digest(token))?.id;
  }

  /** Whether a user is exempt from rates in requests with this token. */
  exempts(token: string, userId: string): boolean {
    const service = this.byToken.get(digest(token));
    return service !== undefined && isExempt(service, userId);
  }
}

/** The exemption covers the users that a service acts as, not the service's own sender. */
const isExempt = ({ rateLimited, senderUserId }: Registration, userId: string): boolean =>
  !rateLimited && userId !== senderUserId;
