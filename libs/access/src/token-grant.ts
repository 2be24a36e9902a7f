import {
  isWithinFolder,
  type AccessAction,
  type AccessScope,
  type AccessSubject,
  type ApiToken,
  type TokenAction,
} from '@headgate/domain-contracts';
import type { GrantRules } from './bound-grant.js';

/** Whether an instance is in a scope, by the same rules as the query of the list. */
export type ScopeMatch = (subject: AccessSubject, scope: AccessScope) => boolean;

/**
 * The limits of an API token: its actions, on the instances in its scope. A token with a leash only reads, whatever
 * actions it is stored with.
 */
export class TokenGrant implements GrantRules {
  readonly kind: 'token' | 'agent';
  readonly version = 'token';
  readonly label: string;
  private readonly scope: AccessScope;
  private readonly actions: ReadonlySet<AccessAction>;

  constructor(
    token: Pick<ApiToken, 'name' | 'scope' | 'actions' | 'agent'>,
    private readonly matches: ScopeMatch,
  ) {
    this.kind = token.agent ? 'agent' : 'token';
    this.scope = token.scope;
    this.label = `The API token ${token.name}`;
    this.actions = new Set<AccessAction>(token.agent ? ['read'] : withImplied(token.actions));
  }

  /** The limits of what an agent has rehearsed, for the rehearsal and the commit only. */
  static ofRehearsals({ name, scope, agent }: Pick<ApiToken, 'name' | 'scope' | 'agent'>, matches: ScopeMatch) {
    return new TokenGrant({ name, scope, actions: agent?.actions ?? [] }, matches);
  }

  get readsShared(): boolean {
    return this.allowsAll('read');
  }

  allows(action: AccessAction, subject: AccessSubject): boolean {
    return this.actions.has(action) && this.matches(subject, this.scope);
  }

  /** Only a scope that is a folder, and nothing more, has all of a folder's members. */
  allowsFolder(action: AccessAction, path: string): boolean {
    if (!this.actions.has(action)) return false;
    const { folder, ...others } = this.scope;
    if (Object.values(others).some((value) => value !== undefined)) return false;
    return folder === undefined || isWithinFolder(path, folder);
  }

  allowsAll(action: AccessAction): boolean {
    return this.actions.has(action) && isEverything(this.scope);
  }
}

/** Every other action also allows reading the instance; a console with input includes one without. */
function withImplied(actions: readonly TokenAction[]): AccessAction[] {
  return [...actions, 'read', ...(actions.includes('console') ? ['watch' as const] : [])];
}

export const isEverything = (scope: AccessScope): boolean => Object.values(scope).every((value) => value === undefined);
