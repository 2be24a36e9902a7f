import {
  buildPlan,
  Change,
  DomainError,
  foldName,
  TOKEN_ACTIONS,
  type AccessScope,
  type ApiToken,
  type ApiTokenStore,
  type Audit,
  type Caller,
  type Clock,
  type Leash,
  type Plan,
  type TokenAction,
} from '@headgate/domain-contracts';
import { hashToken, newToken } from './token-text.js';

export const MAX_TOKENS = 100;
/** For each user, of their device logins. */
export const MAX_DEVICE_TOKENS = 20;
/** Of all device logins. */
export const MAX_ALL_DEVICE_TOKENS = 2_000;
export const MAX_TOKEN_DAYS = 366;
const DAY_MS = 24 * 60 * 60_000;
/** Expired tokens stay in the list for this long. */
const KEEP_EXPIRED_MS = 30 * DAY_MS;

/** In so many days, in ISO 8601. */
export const expiryIn = (days: number, clock: Clock): string => new Date(clock.now() + days * DAY_MS).toISOString();

export interface CreateTokenRequest {
  readonly name: string;
  readonly actions: readonly TokenAction[];
  readonly scope: AccessScope;
  readonly days: number;
  /** The only addresses and networks of its clients; without one, any. */
  readonly addresses?: readonly string[] | undefined;
  /** For an agent, which may rehearse the actions. */
  readonly agent?: Omit<Leash, 'actions'> | undefined;
  /** For a program that a user has let in with a device login. */
  readonly isOfDevice?: boolean | undefined;
}

/** A new token. Its text is returned this one time only. */
export interface CreatedToken {
  readonly token: ApiToken;
  readonly text: string;
}

/** Creates an API token for a machine. */
export class CreateToken extends Change<[request: CreateTokenRequest], CreatedToken, CreateTokenRequest> {
  constructor(
    private readonly store: ApiTokenStore,
    private readonly clock: Clock,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** Checked when it is recorded, so that a refusal has an entry in the audit log. */
  protected override prepare(request: CreateTokenRequest): CreateTokenRequest {
    return request;
  }

  protected override async planPrepared(request: CreateTokenRequest): Promise<Plan> {
    this.expectPossible(request);
    return buildPlan([
      {
        name: 'create token',
        detail: `${request.name}, ${purposeOf(request)}, valid for ${request.days} days`,
      },
    ]);
  }

  protected override async runPrepared(request: CreateTokenRequest, caller: Caller): Promise<CreatedToken> {
    return this.audit.of(
      caller,
      'create token',
      `token/${request.name}`,
      async () => {
        this.expectPossible(request, caller.login);
        await this.deleteOld();
        const { id, text } = newToken();
        const token: ApiToken = {
          id,
          name: request.name,
          hash: hashToken(text),
          creator: caller.login,
          scope: request.scope,
          ...actionsOf(request),
          ...(request.addresses?.length && { addresses: request.addresses }),
          ...(request.isOfDevice && { isOfDevice: true }),
          createdAt: this.clock.iso(),
          expiresAt: expiryIn(request.days, this.clock),
          lastUsedAt: null,
        };
        await this.store.put(token);
        return { token, text };
      },
      ({ token: { id, expiresAt } }) => `${id}, ${purposeOf(request)}, until ${expiresAt}`,
    );
  }

  /** Whether a token has the name. */
  isTaken(name: string): boolean {
    return this.store.all().some((token) => token.name === name);
  }

  /** @throws DomainError CONFLICT if the user can't have another token of a device login */
  expectRoomForDevice(login: string): void {
    const tokens = this.store.all().filter((token) => token.isOfDevice && !this.isExpired(token));
    const own = tokens.filter(({ creator }) => foldName(creator) === foldName(login));
    if (own.length >= MAX_DEVICE_TOKENS)
      throw new DomainError(
        'CONFLICT',
        `You have ${MAX_DEVICE_TOKENS} programs that may act for you; revoke one on the page of your account.`,
      );
    if (tokens.length >= MAX_ALL_DEVICE_TOKENS)
      throw new DomainError('CONFLICT', `There are ${MAX_ALL_DEVICE_TOKENS} programs of users already.`);
  }

  /** @throws DomainError ALREADY_EXISTS, CONFLICT */
  private expectPossible({ name, isOfDevice }: CreateTokenRequest, login = ''): void {
    const tokens = this.store.all().filter((token) => !this.isOld(token));
    if (tokens.some((token) => token.name === name))
      throw new DomainError(
        'ALREADY_EXISTS',
        `The API token ${name} already exists; revoke it or choose another name.`,
      );
    if (isOfDevice) return this.expectRoomForDevice(login);
    if (tokens.filter((token) => !token.isOfDevice).length >= MAX_TOKENS)
      throw new DomainError('CONFLICT', `There are ${MAX_TOKENS} API tokens already; revoke one that is not used.`);
  }

  private async deleteOld(): Promise<void> {
    for (const token of this.store.all()) if (this.isOld(token)) await this.store.delete(token.id);
  }

  private isExpired({ expiresAt }: ApiToken): boolean {
    return Date.parse(expiresAt) <= this.clock.now();
  }

  private isOld({ expiresAt }: ApiToken): boolean {
    return Date.parse(expiresAt) + KEEP_EXPIRED_MS < this.clock.now();
  }
}

/** The actions of a token with a leash are those of its rehearsals, so that no other code finds them. */
function actionsOf({
  actions,
  agent,
}: Pick<CreateTokenRequest, 'actions' | 'agent'>): Pick<ApiToken, 'actions' | 'agent'> {
  const sorted = TOKEN_ACTIONS.filter((action) => actions.includes(action));
  return agent ? { actions: ['read'], agent: { ...agent, actions: sorted } } : { actions: sorted };
}

const purposeOf = ({
  actions,
  agent,
  addresses = [],
}: Pick<CreateTokenRequest, 'actions' | 'agent' | 'addresses'>): string =>
  `${agent ? 'for an agent that rehearses' : 'for'} ${actions.join(', ')}${addresses.length > 0 ? ` from ${addresses.join(', ')}` : ''}`;
