import type { LoginUsers } from '@headgate/access';
import type { Accounts } from '@headgate/login';
import type { LoginSection } from '../config/login-section.js';

/** Which logins are those of users who can log in. Others have no rights, such as those of deleted accounts. */
export class KnownUsers implements LoginUsers {
  constructor(
    private readonly settings: { readonly login?: LoginSection | undefined },
    private readonly accounts: Accounts,
  ) {}

  get areRequired(): boolean {
    return this.settings.login !== undefined;
  }

  isAdmin(login: string): boolean {
    return this.settings.login?.local === true && this.accounts.isAdmin(login);
  }

  isGone(login: string): boolean {
    const { login: section } = this.settings;
    if (!section) return false;
    const [provider, rest] = login.split(':', 2);
    if (rest !== undefined && section.providers.some(({ id }) => id === provider)) return false;
    const account = section.local ? this.accounts.get(login) : undefined;
    // The proxy identifies users that are not known here.
    return account ? account.isDisabled : login === '' || !section.proxyIdentity;
  }
}
