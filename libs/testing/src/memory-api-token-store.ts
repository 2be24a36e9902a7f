import { ApiTokenStore, type ApiToken } from '@headgate/domain-contracts';

/** ApiTokenStore in memory. */
export class MemoryApiTokenStore extends ApiTokenStore {
  private readonly tokens = new Map<string, ApiToken>();

  override put(token: ApiToken): void {
    this.tokens.set(token.id, structuredClone(token));
  }

  override get(id: string): ApiToken | undefined {
    const token = this.tokens.get(id);
    return token && structuredClone(token);
  }

  override all(): readonly ApiToken[] {
    return [...this.tokens.values()].map((token) => structuredClone(token)).sort(byAge);
  }

  override setLastUsed(id: string, time: string): void {
    const token = this.tokens.get(id);
    if (token) this.tokens.set(id, { ...token, lastUsedAt: time });
  }

  override delete(id: string): boolean {
    return this.tokens.delete(id);
  }
}

const byAge = (a: ApiToken, b: ApiToken): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1;
