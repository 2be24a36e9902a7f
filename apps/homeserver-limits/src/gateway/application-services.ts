import { ConfigError } from '@headgate/nest-kit';
import { digest } from '../homeserver/digest.js';
import type { Caller } from '../homeserver/identity.port.js';
import type { ActingFor } from './acting-for.js';
import { readRegistration, type Registration } from './registration.js';

/** The application services of the homeserver, recognised by their tokens. */
export class ApplicationServices {
  private constructor(private readonly byToken: ReadonlyMap<string, Registration>) {}

  /** @throws ConfigError naming the registration file that cannot be used */
  static read(paths: readonly string[], serverName: string): ApplicationServices {
    const byToken = new Map<string, Registration>();
    for (const path of paths) {
      const registration = readRegistration(path, serverName);
      const mark = digest(registration.token);
      if (byToken.has(mark)) throw new ConfigError(path, ['as_token is that of another registration']);
      byToken.set(mark, registration);
    }
    return new ApplicationServices(byToken);
  }

  /**
   * The caller behind an application service's token. Undefined for the token of anybody else, and for a user who is not
   * in the service's namespaces: the homeserver has to say whether it may speak for him.
   */
  callerOf(token: string, { userId, deviceId }: ActingFor): Caller | undefined {
    const service = this.byToken.get(digest(token));
    if (!service) return undefined;
    const acting = userId ?? service.senderUserId;
    if (acting !== service.senderUserId && !service.users.some((users) => users.test(acting))) return undefined;
    return { userId: acting, exemptFromRates: isExempt(service, acting), ...(deviceId !== undefined && { deviceId }) };
  }

  /** Whether rates are not for this user while he comes with this token. */
  exempts(token: string, userId: string): boolean {
    const service = this.byToken.get(digest(token));
    return service !== undefined && isExempt(service, userId);
  }
}

/** The exemption is for the users a service speaks for, not for the service's own sender. */
const isExempt = ({ rateLimited, senderUserId }: Registration, userId: string): boolean =>
  !rateLimited && userId !== senderUserId;
