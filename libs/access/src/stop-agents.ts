import {
  buildPlan,
  Change,
  DomainError,
  type ApiToken,
  type ApiTokenStore,
  type Audit,
  type Caller,
  type Plan,
} from '@headgate/domain-contracts';
import { tokenNotFound, type ApiTokens } from './api-tokens.js';

export interface StopAgentsDeps {
  readonly tokens: ApiTokens;
  readonly store: ApiTokenStore;
  readonly audit: Audit;
}

type StopArgs = [id: string | undefined, isStopped: boolean];

interface Prepared {
  readonly agents: readonly ApiToken[];
  readonly isStopped: boolean;
}

/**
 * Stops or resumes one agent, or all. The requests of a stopped one are refused, also after a restart, and its
 * connections are closed. Its result is the tokens that have changed.
 */
export class StopAgents extends Change<StopArgs, readonly ApiToken[], Prepared> {
  constructor(private readonly deps: StopAgentsDeps) {
    super();
  }

  /** @throws DomainError TOKEN_NOT_FOUND; INVALID_INPUT for a token without a leash */
  protected override prepare(id: string | undefined, isStopped: boolean): Prepared {
    const { store } = this.deps;
    if (id === undefined) return { agents: store.all().filter(({ agent }) => agent !== undefined), isStopped };
    const token = store.get(id);
    if (!token) throw tokenNotFound(id);
    if (!token.agent) throw new DomainError('INVALID_INPUT', `token: ${token.name} has no leash; revoke it instead.`);
    return { agents: [token], isStopped };
  }

  protected override async planPrepared({ agents, isStopped }: Prepared): Promise<Plan> {
    const name = isStopped ? 'stop agent' : 'resume agent';
    return buildPlan(agents.map((token) => ({ name, detail: token.name })));
  }

  /** An agent that can't be stopped does not keep the others running. */
  protected override async runPrepared({ agents, isStopped }: Prepared, caller: Caller): Promise<readonly ApiToken[]> {
    const results = await Promise.allSettled(agents.map((token) => this.set(token, isStopped, caller)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return agents.map((token) => ({ ...token, isStopped }));
  }

  private set({ id, name }: ApiToken, isStopped: boolean, caller: Caller): Promise<void> {
    return this.deps.audit.of(
      caller,
      isStopped ? 'stop agent' : 'resume agent',
      `token/${name}`,
      () => this.deps.tokens.change(id, { isStopped }),
      () => id,
    );
  }
}
