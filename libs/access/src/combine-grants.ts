import type { AccessAction, AccessSubject, GrantKind } from '@headgate/domain-contracts';
import type { GrantRules } from './bound-grant.js';

/** Allows what both grants allow: a token, and the roles of its creator. */
class BothGrants implements GrantRules {
  constructor(
    private readonly first: GrantRules,
    private readonly second: GrantRules,
  ) {}

  get kind(): GrantKind {
    return this.first.kind;
  }

  get label(): string {
    return this.first.label;
  }

  get readsShared(): boolean {
    return this.first.readsShared && this.second.readsShared;
  }

  get version(): string {
    return `${this.first.version} ${this.second.version}`;
  }

  allows(action: AccessAction, subject: AccessSubject): boolean {
    return this.first.allows(action, subject) && this.second.allows(action, subject);
  }

  allowsFolder(action: AccessAction, path: string): boolean {
    return this.first.allowsFolder(action, path) && this.second.allowsFolder(action, path);
  }

  allowsAll(action: AccessAction): boolean {
    return this.first.allowsAll(action) && this.second.allowsAll(action);
  }
}

/** The first grant, limited by each of the others. */
export const combineGrants = (first: GrantRules, ...others: readonly (GrantRules | undefined)[]): GrantRules =>
  others.reduce<GrantRules>((all, other) => (other ? new BothGrants(all, other) : all), first);
