import {
  buildPlan,
  Change,
  definedFields,
  DomainError,
  TOKEN_ACTIONS,
  type AccessScope,
  type ApiToken,
  type ApiTokenChange,
  type ApiTokenStore,
  type Audit,
  type Caller,
  type Clock,
  type Leash,
  type Plan,
  type TokenAction,
} from '@headgate/domain-contracts';
import { tokenNotFound, type ApiTokens } from './api-tokens.js';
import { expiryIn } from './create-token.js';

/** New values; those that are left out stay. */
export interface TokenChange {
  readonly actions?: readonly TokenAction[] | undefined;
  readonly scope?: AccessScope | undefined;
  /** The only addresses and networks of its clients; none: any. */
  readonly addresses?: readonly string[] | undefined;
  /** Of a token with a leash. */
  readonly agent?: Partial<Omit<Leash, 'actions'>> | undefined;
  /** How many days it is valid from now on. */
  readonly days?: number | undefined;
}

export interface ChangeTokenDeps {
  readonly tokens: ApiTokens;
  readonly store: ApiTokenStore;
  readonly clock: Clock;
  readonly audit: Audit;
}

interface Prepared {
  readonly token: ApiToken;
  readonly change: TokenChange;
}

/** Changes the rights of an API token, or how long it is valid. Its secret stays; its connections are closed. */
export class ChangeToken extends Change<[id: string, change: TokenChange], ApiToken, Prepared> {
  constructor(private readonly deps: ChangeTokenDeps) {
    super();
  }

  /** @throws DomainError TOKEN_NOT_FOUND, INVALID_INPUT */
  protected override prepare(id: string, change: TokenChange): Prepared {
    const token = this.deps.store.get(id);
    if (!token) throw tokenNotFound(id);
    if (Object.values(change).every((value) => value === undefined))
      throw new DomainError('INVALID_INPUT', 'The request must have actions, scope, addresses, agent or days.');
    if (change.agent && !token.agent)
      throw new DomainError('INVALID_INPUT', `agent: ${token.name} has no leash; create another token with one.`);
    return { token, change };
  }

  protected override async planPrepared({ token, change }: Prepared): Promise<Plan> {
    return buildPlan([
      { name: 'change token', detail: `${token.name}, ${changesOf(change)}` },
      { name: 'close connections', detail: `streams and consoles of ${token.name}` },
    ]);
  }

  protected override async runPrepared({ token, change }: Prepared, caller: Caller): Promise<ApiToken> {
    const { tokens, audit, clock } = this.deps;
    const { scope, addresses, days } = change;
    const changed: ApiTokenChange = {
      ...changedActions(token, change),
      ...(scope && { scope }),
      ...(addresses && { addresses }),
      ...(days !== undefined && { expiresAt: expiryIn(days, clock) }),
    };
    return audit.of(
      caller,
      'change token',
      `token/${token.name}`,
      async () => {
        await tokens.change(token.id, changed);
        return { ...token, ...changed };
      },
      () => `${token.id}, ${changesOf(change)}`,
    );
  }
}

/** A token with a leash keeps it, with the actions that it may rehearse. */
function changedActions({ agent: leash }: ApiToken, { actions, agent }: TokenChange): ApiTokenChange {
  const sorted = actions && TOKEN_ACTIONS.filter((action) => actions.includes(action));
  if (!leash) return sorted ? { actions: sorted } : {};
  if (!sorted && !agent) return {};
  return { agent: { ...leash, ...definedFields(agent ?? {}), ...(sorted && { actions: sorted }) } };
}

const changesOf = ({ actions, agent, scope, addresses, days }: TokenChange): string =>
  [
    actions && `for ${actions.join(', ')}`,
    agent &&
      `with ${Object.entries(definedFields(agent))
        .map(([field, value]) => `${field} ${value}`)
        .join(', ')}`,
    scope && `for ${scopeText(scope)}`,
    addresses && `from ${addresses.length > 0 ? addresses.join(', ') : 'any address'}`,
    days !== undefined && `valid for ${days} days`,
  ]
    .filter(Boolean)
    .join(', ');

function scopeText(scope: AccessScope): string {
  const fields = Object.entries(definedFields(scope));
  if (fields.length === 0) return 'all instances';
  return `instances with ${fields.map(([field, value]) => `${field} ${value}`).join(' and ')}`;
}
