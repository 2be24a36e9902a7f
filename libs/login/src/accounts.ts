import {
  DomainError,
  type Account,
  type AccountStore,
  type Audit,
  type Author,
  type Clock,
} from '@headgate/domain-contracts';
import type { LoginAttempts } from './login-attempts.js';
import type { LoginKeys } from './login-keys.js';
import { hashSecret, hasHash, randomSecret } from './one-time-secret.js';
import type { Passwords } from './passwords.js';
import { newRecoveryCodes, readRecoveryCode } from './recovery-codes.js';
import type { Sessions } from './sessions.js';

const SETUP_DAYS = 3;
const DAY_MS = 24 * 60 * 60_000;
export const MAX_ACCOUNTS = 1_000;
/** Without a colon, which the logins of providers have. */
const LOGIN = /^[a-z0-9][a-z0-9._@+-]{0,99}$/;
/** The same sentence whatever is wrong, so that the answer does not show which logins exist. */
const WRONG = 'The login or the password is wrong.';

export interface AccountsDeps {
  readonly store: AccountStore;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly audit: Audit;
  /** From which the secret of the link for the first account is derived, the same in all replicas. */
  readonly keys: LoginKeys;
  /** Revokes the API tokens of a login that has no account now. */
  readonly revokeTokens: (login: string, author: Author) => Promise<void>;
}

export interface AccountRequest {
  readonly login: string;
  readonly name: string;
  readonly isAdmin: boolean;
}

/** Users who log in with a password of the service. */
export class Accounts {
  constructor(private readonly deps: AccountsDeps) {}

  /** The secret of the link with which the first account is created; undefined if there is an account. */
  firstSecret(): string | undefined {
    if (this.deps.store.all().length > 0) return undefined;
    return this.deps.keys.of('first account').toString('base64url');
  }

  all(): readonly Account[] {
    return this.deps.store.all();
  }

  get(login: string): Account | undefined {
    return this.deps.store.get(login.toLowerCase());
  }

  isAdmin(login: string): boolean {
    const account = this.get(login);
    return account !== undefined && account.isAdmin && !account.isDisabled;
  }

  /** @throws DomainError LOGIN_FAILED, TOO_MANY_LOGINS */
  async logIn(login: string, password: string, author: Author): Promise<Account> {
    const attempt = this.deps.attempts.begin(login.toLowerCase(), author.origin?.address ?? '');
    const account = this.get(login);
    const hash = account?.isDisabled === false ? account.password : undefined;
    const isRight = await this.deps.passwords.matches(password, hash);
    if (!isRight || !account) throw new DomainError('LOGIN_FAILED', WRONG);
    attempt.succeeded();
    return account;
  }

  /** Creates the first account, an administrator, with the secret of the link. @throws DomainError LOGIN_FAILED */
  async createFirst(secret: string, request: AccountRequest, password: string, author: Author): Promise<Account> {
    const first = this.firstSecret();
    if (first === undefined || !hasHash(secret, hashSecret(first)))
      throw new DomainError('LOGIN_FAILED', 'The link was already used, or is of an earlier start of the service.');
    const account = this.expectNew({ ...request, isAdmin: true });
    const hash = await this.deps.passwords.hash(password);
    return this.record({ ...author, login: account.login }, 'create account', account.login, async () => {
      await this.deps.revokeTokens(account.login, author);
      // Another request may have used the link meanwhile, also at another replica.
      await this.deps.store.reload();
      if (this.deps.store.all().length > 0) throw new DomainError('LOGIN_FAILED', 'The link was already used.');
      const created = { ...account, password: hash };
      await this.deps.store.put(created);
      return created;
    });
  }

  /** @returns the account, and the secret of the link with which the user sets a password */
  async create(request: AccountRequest, author: Author): Promise<{ account: Account; secret: string }> {
    return this.record(author, 'create account', request.login, async () => {
      // The tokens of a former user of this login: the service may have ended before it revoked them.
      await this.deps.revokeTokens(this.expectNew(request).login, author);
      const account = this.expectNew(request);
      const { setup, secret } = this.newSetup();
      await this.deps.store.put({ ...account, setup });
      return { account: { ...account, setup }, secret };
    });
  }

  /** Ends the sessions of the user and refuses their password and passkeys; a new link lets them set a password. */
  async reset(login: string, author: Author): Promise<{ account: Account; secret: string }> {
    return this.record(author, 'reset account', login, async () => {
      const { setup, secret } = this.newSetup();
      const account = await this.change(login, ({ password: _password, ...one }) => ({
        ...one,
        setup,
        recovery: [],
        passkeys: [],
      }));
      await this.deps.sessions.endOf(account.login);
      return { account, secret };
    });
  }

  /** Changes the name or the rights. @throws DomainError ACCOUNT_NOT_FOUND, CONFLICT for the last administrator */
  async update(
    login: string,
    change: Partial<Pick<Account, 'name' | 'isAdmin' | 'isDisabled'>>,
    author: Author,
  ): Promise<Account> {
    return this.record(author, 'change account', login, async () => {
      if (change.isAdmin === false || change.isDisabled === true) this.expectOtherAdmin(login);
      const account = await this.change(login, (one) => ({ ...one, ...change }));
      // Connections that were opened with other rights end, too.
      if (change.isAdmin !== undefined || change.isDisabled !== undefined)
        await this.deps.sessions.endOf(account.login);
      return account;
    });
  }

  /**
   * Also ends the sessions of the user and revokes their API tokens.
   * @throws DomainError ACCOUNT_NOT_FOUND, CONFLICT for the last administrator
   */
  async delete(login: string, author: Author): Promise<void> {
    await this.record(author, 'delete account', login, async () => {
      const { login: key } = this.expectAccount(login);
      this.expectOtherAdmin(key);
      await this.deps.store.delete(key);
      await this.deps.sessions.endOf(key);
      await this.deps.revokeTokens(key, author);
    });
  }

  /** Sets the password of a new or reset account with the secret of its link. @throws DomainError LOGIN_FAILED */
  async setUp(login: string, secret: string, password: string, author: Author): Promise<Account> {
    const account = this.get(login);
    const isRight = hasHash(secret, account?.setup?.hash ?? hashSecret(randomSecret()));
    const isValid = Date.parse(account?.setup?.expiresAt ?? '') > this.deps.clock.now();
    if (!account || !isRight || !isValid || account.isDisabled)
      throw new DomainError(
        'LOGIN_FAILED',
        'The link was already used or is too old; an administrator can send another.',
      );
    const hash = await this.deps.passwords.hash(password);
    return this.record({ ...author, login: account.login }, 'set password', account.login, () =>
      this.change(account.login, ({ setup, ...one }) => {
        if (setup?.hash !== account.setup?.hash) throw new DomainError('LOGIN_FAILED', 'The link was already used.');
        return { ...one, password: hash };
      }),
    );
  }

  /** Changes the own password. @param except the session that stays @throws DomainError LOGIN_FAILED */
  async changePassword(
    login: string,
    { current, next, except }: { current: string; next: string; except?: string | undefined },
    author: Author,
  ): Promise<void> {
    await this.logIn(login, current, author);
    const hash = await this.deps.passwords.hash(next);
    await this.record(author, 'change password', login, async () => {
      await this.change(login, (one) => ({ ...one, password: hash }));
      await this.deps.sessions.endOf(login.toLowerCase(), except);
    });
  }

  /** New recovery codes; the former ones are refused. @throws DomainError LOGIN_FAILED */
  async createRecoveryCodes(login: string, password: string, author: Author): Promise<string[]> {
    await this.logIn(login, password, author);
    const codes = newRecoveryCodes();
    return this.record(author, 'create recovery codes', login, async () => {
      await this.change(login, (one) => ({ ...one, recovery: codes.map(hashSecret) }));
      return codes;
    });
  }

  /** Sets a new password with a recovery code, which is used up. Ends all sessions. @throws DomainError as `logIn` */
  async recover(login: string, code: string, password: string, author: Author): Promise<Account> {
    const text = readRecoveryCode(code);
    // A counter of its own: a user whose password is locked by the attempts of others can still use a code.
    const attempt = this.deps.attempts.begin(`recovery ${login.toLowerCase()}`, author.origin?.address ?? '');
    const found = this.get(login);
    const used = found?.recovery.find((hash) => hasHash(text, hash));
    if (!found || used === undefined || found.isDisabled)
      throw new DomainError('LOGIN_FAILED', 'The login or the recovery code is wrong.');
    attempt.succeeded();
    const hash = await this.deps.passwords.hash(password);
    return this.record({ ...author, login: found.login }, 'recover account', found.login, async () => {
      const account = await this.change(found.login, (one) => {
        // Another request may have used the code meanwhile.
        if (!one.recovery.includes(used)) throw new DomainError('LOGIN_FAILED', 'The code was already used.');
        return { ...one, password: hash, recovery: one.recovery.filter((other) => other !== used) };
      });
      await this.deps.sessions.endOf(account.login);
      return account;
    });
  }

  private expectNew({ login, name, isAdmin }: AccountRequest): Account {
    const key = login.toLowerCase();
    if (!LOGIN.test(key))
      throw new DomainError('INVALID_INPUT', 'login must have 1 to 100 characters of a-z, 0-9 and "._@+-".');
    if (this.get(key)) throw new DomainError('ALREADY_EXISTS', `The account ${key} already exists.`);
    if (this.deps.store.all().length >= MAX_ACCOUNTS)
      throw new DomainError('CONFLICT', `There are ${MAX_ACCOUNTS} accounts already; delete one that is not used.`);
    const now = this.deps.clock.iso();
    return { login: key, name, isAdmin, isDisabled: false, recovery: [], createdAt: now, changedAt: now };
  }

  private expectAccount(login: string): Account {
    const account = this.get(login);
    if (account) return account;
    throw new DomainError('ACCOUNT_NOT_FOUND', `There is no account ${login.slice(0, 100)}.`);
  }

  /** Otherwise no user could manage the accounts. */
  private expectOtherAdmin(login: string): void {
    const { login: key, isAdmin, isDisabled } = this.expectAccount(login);
    if (!isAdmin || isDisabled || this.all().some((one) => one.login !== key && this.isAdmin(one.login))) return;
    throw new DomainError('CONFLICT', `${key} is the last administrator among the accounts; make another one first.`);
  }

  private async change(login: string, change: (account: Account) => Account): Promise<Account> {
    const { login: key } = this.expectAccount(login);
    const changed = await this.deps.store.change(key, (one) => ({ ...change(one), changedAt: this.deps.clock.iso() }));
    return changed ?? this.expectAccount(login);
  }

  private newSetup(): { setup: NonNullable<Account['setup']>; secret: string } {
    const secret = randomSecret();
    const expiresAt = new Date(this.deps.clock.now() + SETUP_DAYS * DAY_MS).toISOString();
    return { setup: { hash: hashSecret(secret), expiresAt }, secret };
  }

  private record<T>(author: Author, action: string, login: string, work: () => Promise<T>): Promise<T> {
    return this.deps.audit.of(author, action, `account/${login.slice(0, 100)}`, work);
  }
}
