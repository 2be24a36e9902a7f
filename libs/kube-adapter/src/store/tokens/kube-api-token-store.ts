import {
  ApiTokenStore,
  DomainError,
  SILENT_LOG,
  type ApiToken,
  type ApiTokenChange,
  type Log,
  type Replicas,
} from '@headgate/domain-contracts';
import { SERVICE_TOKENS } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { hashedName } from '../hashed-name.js';
import { KeptFresh } from '../kept-fresh.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';

export interface TokenSpec {
  readonly token: ApiToken;
}

/** The name of the object of a token: a name belongs to one token only, because the API server creates it once. */
const objectNameOf = ({ name }: Pick<ApiToken, 'name'>): string => hashedName('token', name);

const isToken = ({ token }: Partial<TokenSpec>): boolean =>
  typeof token?.id === 'string' &&
  typeof token.name === 'string' &&
  /^[0-9a-f]{64}$/.test(token.hash) &&
  typeof token.scope === 'object' &&
  Array.isArray(token.actions) &&
  !Number.isNaN(Date.parse(token.expiresAt));

/** ApiTokenStore in custom resources of a cluster, one for each token. They contain the hashes of the tokens only. */
export class KubeApiTokenStore extends ApiTokenStore {
  private readonly objects: WatchedObjects<TokenSpec>;
  private readonly listeners = new Set<() => void>();
  private readonly fresh: KeptFresh<TokenSpec>;

  constructor(store: ClusterStore, replicas: Replicas, log: Log = SILENT_LOG) {
    super();
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_TOKENS,
      subject: 'API token',
      isComplete: isToken,
      onChange: () => this.report(),
      log,
    });
    this.fresh = new KeptFresh(this.objects, { clock: store.clock, replicas, onLost: () => this.report() });
  }

  /** @throws DomainError NOT_READY when the tokens can't be used; they are left as they are */
  open(): Promise<void> {
    return this.fresh.open();
  }

  /** Resolves when the last request has ended. */
  close(): Promise<void> {
    return this.fresh.close();
  }

  override put(token: ApiToken): Promise<void> {
    return this.objects.put(objectNameOf(token), (stored) => {
      if (stored && stored.token.id !== token.id)
        throw new DomainError(
          'ALREADY_EXISTS',
          `The API token ${token.name} already exists; revoke it or choose another name.`,
        );
      return { token };
    });
  }

  override get(id: string): ApiToken | undefined {
    if (!this.fresh.isCurrent)
      throw new DomainError(
        'NOT_READY',
        'This replica does not reach the store of the cluster, so it can not check API tokens; try again soon.',
      );
    const object = this.find(id);
    return object && structuredClone(object.spec.token);
  }

  override all(): readonly ApiToken[] {
    return this.objects
      .all()
      .map(({ spec }) => structuredClone(spec.token))
      .sort((a, b) => (a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1));
  }

  override async update(id: string, change: ApiTokenChange, formerHash?: string): Promise<boolean> {
    const object = this.find(id);
    if (!object) return false;
    let isSame = false;
    await this.objects.update(object.metadata.name ?? '', ({ token }) => {
      // Another token may have got the name meanwhile.
      isSame = token.id === id && token.hash === (formerHash ?? token.hash);
      return isSame ? { token: { ...token, ...change } } : undefined;
    });
    return isSame;
  }

  override async setLastUsed(id: string, time: string): Promise<void> {
    const object = this.find(id);
    if (!object) return;
    await this.objects.update(object.metadata.name ?? '', ({ token }) =>
      token.id !== id || (token.lastUsedAt ?? '') >= time ? undefined : { token: { ...token, lastUsedAt: time } },
    );
  }

  override async delete(id: string): Promise<boolean> {
    const object = this.find(id);
    return object ? this.objects.delete(object) : false;
  }

  override subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private find(id: string): StoredObject<TokenSpec> | undefined {
    return this.objects.all().find(({ spec }) => spec.token.id === id);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
