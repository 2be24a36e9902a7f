import { ApiTokenStore, DomainError, type ApiToken, type ApiTokenChange } from '@headgate/domain-contracts';

/** ApiTokenStore in memory, which several replicas may share. */
export class MemoryApiTokenStore extends ApiTokenStore {
  private readonly tokens = new Map<string, ApiToken>();
  private readonly listeners = new Set<() => void>();

  override async put(token: ApiToken): Promise<void> {
    if ([...this.tokens.values()].some(({ id, name }) => name === token.name && id !== token.id))
      throw new DomainError('ALREADY_EXISTS', `The API token ${token.name} already exists.`);
    this.tokens.set(token.id, structuredClone(token));
    this.notify();
  }

  override get(id: string): ApiToken | undefined {
    const token = this.tokens.get(id);
    return token && structuredClone(token);
  }

  override all(): readonly ApiToken[] {
    return [...this.tokens.values()].map((token) => structuredClone(token)).sort(byAge);
  }

  override async update(id: string, change: ApiTokenChange, formerHash?: string): Promise<boolean> {
    const token = this.tokens.get(id);
    if (!token || token.hash !== (formerHash ?? token.hash)) return false;
    this.tokens.set(id, structuredClone({ ...token, ...change }));
    this.notify();
    return true;
  }

  override async setLastUsed(id: string, time: string): Promise<void> {
    const token = this.tokens.get(id);
    if (token) this.tokens.set(id, { ...token, lastUsedAt: time });
  }

  override async delete(id: string): Promise<boolean> {
    const existed = this.tokens.delete(id);
    this.notify();
    return existed;
  }

  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

const byAge = (a: ApiToken, b: ApiToken): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1;
