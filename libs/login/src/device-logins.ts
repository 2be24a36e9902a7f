import {
  DomainError,
  foldName,
  TOKEN_ACTIONS,
  type Audit,
  type Caller,
  type Clock,
  type DeviceDecision,
  type DeviceLogin,
  type DeviceLoginStore,
} from '@headgate/domain-contracts';
import type { LoginAttempts } from './login-attempts.js';
import { hashSecret, randomSecret } from './one-time-secret.js';
import { POLL_SECONDS, PollPace } from './poll-pace.js';
import { newUserCode, readUserCode } from './user-code.js';

/** How long a user may take to approve a program, and the program to receive its token. */
export const DEVICE_LOGIN_SECONDS = 600;
/** How many programs may wait at the same time. */
export const MAX_DEVICE_LOGINS = 300;

/** What a program wants to do, on which machine. */
export type DeviceRequest = Pick<DeviceLogin, 'machine' | 'actions' | 'days'>;

/** A program that begins to wait. Its device code is returned this one time only. */
export interface BegunDeviceLogin {
  readonly login: DeviceLogin;
  readonly deviceCode: string;
}

/** What a program receives when it asks for its token. */
export type DevicePoll<Issued> =
  | { readonly status: 'pending' | 'slow-down'; readonly seconds: number }
  | { readonly status: 'denied' | 'expired' }
  | { readonly status: 'approved'; readonly issued: Issued };

export interface DeviceLoginsDeps<Issued> {
  readonly store: DeviceLoginStore;
  /** Limits how many programs begin, by address. */
  readonly begins: LoginAttempts;
  /** Limits how many codes are guessed, by user and by address. */
  readonly guesses: LoginAttempts;
  readonly clock: Clock;
  readonly audit: Audit;
  /** Whether a user has no rights any more, because their account was deleted or disabled for example. */
  readonly isGone: (login: string) => boolean;
  /** @throws DomainError CONFLICT if the user can't have another token */
  readonly expectRoom: (login: string) => void;
  /** Creates the API token of a program with the rights of the user. */
  readonly issue: (login: DeviceLogin, decision: DeviceDecision, address: string) => Promise<Issued>;
}

/**
 * Logins of programs without a browser, modeled on RFC 8628. A program shows a short code and waits. A user who has
 * logged in types it on the page, compares the program, and lets it act for them. The program receives one API token,
 * once.
 */
export class DeviceLogins<Issued> {
  private readonly pace: PollPace;

  constructor(private readonly deps: DeviceLoginsDeps<Issued>) {
    this.pace = new PollPace(deps.clock);
  }

  /** How long a program waits between two requests, at first. */
  readonly seconds = POLL_SECONDS;

  /** @throws DomainError TOO_MANY_LOGINS */
  async begin({ machine, actions, days }: DeviceRequest, address: string): Promise<BegunDeviceLogin> {
    const { store, begins, clock } = this.deps;
    begins.begin(undefined, address);
    const others = await this.removeExpired();
    if (others.length >= MAX_DEVICE_LOGINS)
      throw new DomainError('TOO_MANY_LOGINS', 'Too many programs wait for their login. Try again in a few minutes.', {
        details: { retryAfterSeconds: 60 },
      });
    const deviceCode = randomSecret();
    const login: DeviceLogin = {
      id: hashSecret(deviceCode),
      userCode: this.unusedCode(others),
      machine,
      address,
      actions: TOKEN_ACTIONS.filter((action) => actions.includes(action)),
      days,
      createdAt: clock.iso(),
      expiresAt: new Date(clock.now() + DEVICE_LOGIN_SECONDS * 1000).toISOString(),
    };
    await store.put(login);
    return { login, deviceCode };
  }

  /**
   * The answer to a program that presents its device code. An approved one receives its token once.
   * @param address of the program
   * @throws DomainError CONFLICT if the user can't have another token
   */
  async poll(deviceCode: string, address: string): Promise<DevicePoll<Issued>> {
    const { store, isGone, issue } = this.deps;
    // Looked up by its hash, so that the time of the answer reveals nothing about the codes of others.
    const id = hashSecret(deviceCode);
    const login = store.get(id);
    if (!login || this.isExpired(login)) return { status: 'expired' };
    const { decision } = login;
    if (!decision) {
      const { seconds, isTooFast } = this.pace.next(login.id);
      return { status: isTooFast ? 'slow-down' : 'pending', seconds };
    }
    // Only one of several requests deletes it.
    if (!(await store.delete(login.id))) return { status: 'expired' };
    if (!decision.isApproved || isGone(decision.login)) return { status: 'denied' };
    return { status: 'approved', issued: await issue(login, decision, address) };
  }

  /**
   * The waiting program with a code that a user has typed.
   * @throws DomainError LOGIN_FAILED, TOO_MANY_LOGINS; NOT_PERMITTED for an API token and for a caller without a login
   */
  find(userCode: string, caller: Caller): DeviceLogin {
    expectUser(caller);
    const { guesses, store } = this.deps;
    const attempt = guesses.begin(foldName(caller.login), caller.origin?.address ?? '');
    const code = readUserCode(userCode);
    const login = store.all().find((one) => one.userCode === code && !one.decision && !this.isExpired(one));
    if (!login)
      throw new DomainError(
        'LOGIN_FAILED',
        'No program waits with this code. Compare it with the one in your terminal: it is valid for 10 minutes, and once.',
      );
    attempt.succeeded();
    return login;
  }

  /** Lets the program act for the caller. @throws DomainError as `find`; WRONG_STATE if another request was first */
  async approve(userCode: string, caller: Caller): Promise<DeviceLogin> {
    const login = this.find(userCode, caller);
    this.deps.expectRoom(caller.login);
    return this.decide(login, caller, true);
  }

  /** Refuses the program. @throws DomainError as `approve` */
  async deny(userCode: string, caller: Caller): Promise<DeviceLogin> {
    return this.decide(this.find(userCode, caller), caller, false);
  }

  private async decide({ id, machine }: DeviceLogin, caller: Caller, isApproved: boolean): Promise<DeviceLogin> {
    const { store, audit } = this.deps;
    const { login, name, groups } = caller;
    const decision = { id: randomSecret(), isApproved, login, name, ...(groups && { groups: [...groups] }) };
    return audit.of(
      caller,
      isApproved ? 'approve device login' : 'deny device login',
      `device/${machine}`,
      async () => {
        const decided = await store.change(id, (stored) => (stored.decision ? undefined : { ...stored, decision }));
        if (decided?.decision?.id === decision.id) return decided;
        throw new DomainError('WRONG_STATE', 'Another request has approved or denied this program, or it has ended.');
      },
      ({ address, actions, days }) => `from ${address}, for ${actions.join(', ')}, ${days} days`,
    );
  }

  private unusedCode(others: readonly DeviceLogin[]): string {
    for (;;) {
      const code = newUserCode();
      if (others.every(({ userCode }) => userCode !== code)) return code;
    }
  }

  /** @returns the others */
  private async removeExpired(): Promise<DeviceLogin[]> {
    const { store } = this.deps;
    const all = store.all();
    for (const one of all) if (this.isExpired(one)) await store.delete(one.id);
    const others = all.filter((one) => !this.isExpired(one));
    this.pace.keep(new Set(others.map(({ id }) => id)));
    return others;
  }

  private isExpired({ expiresAt }: DeviceLogin): boolean {
    return Date.parse(expiresAt) <= this.deps.clock.now();
  }
}

/** An API token must not let another program in: it would outlive its own end. @throws DomainError NOT_PERMITTED */
function expectUser({ login, token }: Caller): void {
  if (token !== undefined)
    throw new DomainError('NOT_PERMITTED', 'An API token can not let a program in: open the page in a browser.');
  if (login === '')
    throw new DomainError('NOT_PERMITTED', 'The service does not know who you are, so no program can act for you.');
}

/** Takes back what a user has approved, so that a later user of the same login does not have it. */
export async function dropDeviceLoginsOf(store: DeviceLoginStore, login: string): Promise<void> {
  const name = foldName(login);
  for (const { id, decision } of store.all()) if (decision && foldName(decision.login) === name) await store.delete(id);
}
