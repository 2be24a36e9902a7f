import {
  buildPlan,
  Change,
  DomainError,
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
        this.expectPossible(request);
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

  /** @throws DomainError ALREADY_EXISTS, CONFLICT */
  private expectPossible({ name }: CreateTokenRequest): void {
    const tokens = this.store.all().filter((token) => !this.isOld(token));
    if (tokens.some((token) => token.name === name))
      throw new DomainError(
        'ALREADY_EXISTS',
        `The API token ${name} already exists; revoke it or choose another name.`,
      );
    if (tokens.length >= MAX_TOKENS)
      throw new DomainError('CONFLICT', `There are ${MAX_TOKENS} API tokens already; revoke one that is not used.`);
  }

  private async deleteOld(): Promise<void> {
    for (const token of this.store.all()) if (this.isOld(token)) await this.store.delete(token.id);
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
