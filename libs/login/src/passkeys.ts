import { randomBytes } from 'node:crypto';
import {
  DomainError,
  type Account,
  type AccountStore,
  type Audit,
  type Author,
  type Clock,
  type Passkey,
} from '@headgate/domain-contracts';
import type { Accounts } from './accounts.js';
import type { LoginAttempts } from './login-attempts.js';
import type { PasskeyAnswer, PasskeyCeremony, PasskeyCreation } from './passkey-ceremony.js';
import type { NewChallenge, PasskeyChallenges } from './passkey-challenges.js';
import type { Sessions } from './sessions.js';

export const MAX_PASSKEYS = 20;
const HANDLE_BYTES = 32;
const LOGIN = 'log in';
/** The same sentence whatever is wrong, so that the answer does not show which passkeys exist. */
const WRONG = 'The passkey is not valid here. Use another one, or log in with your password.';

export interface PasskeysDeps {
  readonly store: AccountStore;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly attempts: LoginAttempts;
  readonly challenges: PasskeyChallenges;
  /** Absent: passkeys are off, because the address of the service is not known. */
  readonly ceremony: PasskeyCeremony | undefined;
  readonly clock: Clock;
  readonly audit: Audit;
}

/** The account that is about to get a passkey, and the challenge for the authenticator. */
export interface Registration extends NewChallenge {
  readonly account: Account & { readonly handle: string };
  readonly relyingParty: string;
}

/** The passkeys of accounts: key pairs on the devices of users, which replace the password at the login. */
export class Passkeys {
  constructor(private readonly deps: PasskeysDeps) {}

  get areUsed(): boolean {
    return this.deps.ceremony !== undefined;
  }

  /** A challenge for any passkey of this service. @throws DomainError NOT_SUPPORTED */
  beginLogin(): NewChallenge & { readonly relyingParty: string } {
    return { ...this.deps.challenges.create(LOGIN), relyingParty: this.expectUsed().relyingParty };
  }

  /**
   * @param sealed the text of `beginLogin` that the browser has brought back
   * @throws DomainError LOGIN_FAILED, TOO_MANY_LOGINS
   */
  async logIn(
    answer: PasskeyAnswer,
    sealed: string | undefined,
    author: Author,
  ): Promise<{ account: Account; passkey: Passkey }> {
    const ceremony = this.expectUsed();
    const attempt = this.deps.attempts.begin(undefined, author.origin?.address ?? '');
    const challenge = this.deps.challenges.open(sealed, LOGIN);
    const owner = this.ownerOf(answer.id);
    const verified = await ceremony.verifyLogin(answer, challenge, passkeyOf(owner, answer.id));
    if (!owner || !verified || owner.handle !== answer.userHandle) throw wrong();
    this.deps.challenges.use(challenge);
    const { account, passkey } = await this.recordUse(owner.login, answer.id, verified);
    if (!account || !passkey || account.isDisabled) throw wrong();
    if (passkey.copiedAt !== undefined) return this.refuseCopy(account, passkey, author);
    attempt.succeeded();
    return { account, passkey };
  }

  /** The passkeys of an account, in the order of their registration. */
  of(login: string): readonly Passkey[] {
    return this.deps.accounts.get(login)?.passkeys ?? [];
  }

  /**
   * A challenge for a new passkey. An open session alone can't add one: it would stay when the session has ended.
   * @param session the ID of the session that asks
   * @throws DomainError LOGIN_FAILED for a wrong password; CONFLICT for too many passkeys
   */
  async beginRegistration(login: string, password: string, session: string, author: Author): Promise<Registration> {
    const { relyingParty } = this.expectUsed();
    const { login: key } = await this.deps.accounts.logIn(login, password, author);
    const account = await this.change(key, (one) => {
      expectRoom(one);
      return one.handle === undefined ? { ...one, handle: randomBytes(HANDLE_BYTES).toString('base64url') } : one;
    });
    const handle = account.handle ?? '';
    return { ...this.deps.challenges.create(`add ${session}`), account: { ...account, handle }, relyingParty };
  }

  /** @throws DomainError LOGIN_FAILED for an answer that is not valid; ALREADY_EXISTS; CONFLICT */
  async register(
    { login, session, name, sealed }: { login: string; session: string; name: string; sealed: string | undefined },
    answer: PasskeyCreation,
    author: Author,
  ): Promise<Passkey> {
    const ceremony = this.expectUsed();
    const challenge = this.deps.challenges.open(sealed, `add ${session}`);
    const verified = await ceremony.verifyCreation(answer, challenge);
    if (!verified) throw new DomainError('LOGIN_FAILED', 'The answer of the authenticator is not valid. Try again.');
    this.deps.challenges.use(challenge);
    const { transports } = answer;
    const passkey: Passkey = { ...verified, name, transports, createdAt: this.deps.clock.iso() };
    return this.record(author, 'add passkey', login, async () => {
      await this.change(login, (one) => {
        // Two accounts with the same ID could not be distinguished at the login.
        if (this.ownerOf(passkey.id)) throw new DomainError('ALREADY_EXISTS', 'The passkey is already registered.');
        expectRoom(one);
        return { ...one, passkeys: [...(one.passkeys ?? []), passkey] };
      });
      return passkey;
    });
  }

  /**
   * Removes a passkey, and ends the other sessions: one of them may be that of a lost device.
   * @param except the session that stays
   * @throws DomainError PASSKEY_NOT_FOUND; CONFLICT for the last way to log in
   */
  async remove(login: string, id: string, except: string | undefined, author: Author): Promise<void> {
    await this.record(author, 'remove passkey', login, async () => {
      const passkey = passkeyOf(this.deps.accounts.get(login), id);
      if (!passkey) throw notFound();
      const account = await this.change(login, (one) => {
        const left = (one.passkeys ?? []).filter((other) => other.id !== id);
        if (left.length === one.passkeys?.length) throw notFound();
        if (left.length === 0 && one.password === undefined)
          throw new DomainError('CONFLICT', 'It is the last way to log in to your account; set a password first.');
        return { ...one, passkeys: left };
      });
      await this.deps.sessions.endOf(account.login, except);
      return passkey;
    });
  }

  /** Records a login with a passkey, unless its counter went back. */
  private async recordUse(login: string, id: string, seen: { counter: number; isSynced: boolean }) {
    const now = this.deps.clock.iso();
    const account = await this.deps.store.change(login, (one) => {
      const passkey = passkeyOf(one, id);
      if (!passkey || one.isDisabled) return undefined;
      const hasCounter = seen.counter > 0 || passkey.counter > 0;
      const isCopy = passkey.copiedAt !== undefined || (hasCounter && seen.counter <= passkey.counter);
      const used = isCopy ? { copiedAt: passkey.copiedAt ?? now } : { ...seen, lastUsedAt: now };
      return {
        ...one,
        passkeys: one.passkeys?.map((other) => (other === passkey ? { ...passkey, ...used } : other)) ?? [],
      };
    });
    return { account, passkey: passkeyOf(account, id) };
  }

  private refuseCopy({ login }: Account, { name }: Passkey, author: Author): Promise<never> {
    return this.record({ ...author, login }, 'refuse passkey', login, async () => {
      throw new DomainError(
        'LOGIN_FAILED',
        `A copy of the passkey ${name} may exist, so it was refused. Log in with your password and remove it.`,
      );
    });
  }

  private ownerOf(id: string): Account | undefined {
    return this.deps.store.all().find((account) => passkeyOf(account, id));
  }

  private expectUsed(): PasskeyCeremony {
    if (this.deps.ceremony) return this.deps.ceremony;
    throw new DomainError('NOT_SUPPORTED', 'Passkeys need the address of the service: set login.address.');
  }

  private async change(login: string, change: (account: Account) => Account): Promise<Account> {
    const now = this.deps.clock.iso();
    const changed = await this.deps.store.change(login, (one) => ({ ...change(one), changedAt: now }));
    if (changed) return changed;
    throw new DomainError('ACCOUNT_NOT_FOUND', `There is no account ${login.slice(0, 100)}.`);
  }

  private record<T extends Passkey>(author: Author, action: string, login: string, work: () => Promise<T>): Promise<T> {
    return this.deps.audit.of(author, action, `account/${login}`, work, ({ name }) => name);
  }
}

const passkeyOf = (account: Account | undefined, id: string): Passkey | undefined =>
  account?.passkeys?.find((passkey) => passkey.id === id);

const notFound = (): DomainError => new DomainError('PASSKEY_NOT_FOUND', 'There is no such passkey in your account.');

const wrong = (): DomainError => new DomainError('LOGIN_FAILED', WRONG);

function expectRoom({ passkeys = [] }: Account): void {
  if (passkeys.length >= MAX_PASSKEYS)
    throw new DomainError('CONFLICT', `There are ${MAX_PASSKEYS} passkeys already; remove one that is not used.`);
}
