import { DomainError, SILENT_LOG, type Log, type LoginStore, type Replicas } from '@headgate/domain-contracts';
import type { Resource } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { hashedName } from '../hashed-name.js';
import { KeptFresh } from '../kept-fresh.js';
import { WatchedObjects } from '../watched-objects.js';

const READ_LIMIT_MS = 5_000;

/** A kind of objects of the login, each in a custom resource. */
export interface LoginKind<T extends object, Field extends string> {
  readonly resource: Resource;
  /** In messages: "session". */
  readonly subject: string;
  /** In the names of the custom resources. */
  readonly prefix: string;
  /** The field of the spec that has the object. */
  readonly field: Field;
  readonly keyOf: (object: T) => string;
  readonly isComplete: (object: Partial<T>) => boolean;
}

/**
 * A LoginStore in custom resources of a cluster, one for each object. An object that another replica has changed or
 * deleted is refused within 15 seconds, also while this replica does not reach the store.
 */
export class KubeLoginStore<T extends object, Field extends string> implements LoginStore<T> {
  private readonly objects: WatchedObjects<Record<Field, T>>;
  private readonly fresh: KeptFresh<Record<Field, T>>;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly store: ClusterStore,
    private readonly kind: LoginKind<T, Field>,
    replicas: Replicas,
    log: Log = SILENT_LOG,
  ) {
    const { resource, subject, field, isComplete } = kind;
    this.objects = new WatchedObjects(store, {
      resource,
      subject,
      isComplete: (spec: Partial<Record<Field, T>>) => isComplete(spec[field] ?? {}),
      onChange: () => this.report(),
      log,
    });
    this.fresh = new KeptFresh(this.objects, { clock: store.clock, replicas, onLost: () => this.report() });
  }

  /** @throws DomainError NOT_READY when the objects can't be used; they are left as they are */
  open(): Promise<void> {
    return this.fresh.open();
  }

  /** Resolves when the last request has ended. */
  close(): Promise<void> {
    return this.fresh.close();
  }

  get(key: string): T | undefined {
    if (!this.fresh.isCurrent)
      throw new DomainError(
        'NOT_READY',
        `This replica does not reach the store of the cluster, so it can not check a ${this.kind.subject}; try again soon.`,
      );
    const object = this.objects.get(this.nameOf(key));
    return object && structuredClone(object.spec[this.kind.field]);
  }

  all(): readonly T[] {
    const { field, keyOf } = this.kind;
    return this.objects
      .all()
      .map(({ spec }) => structuredClone(spec[field]))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  async put(object: T): Promise<void> {
    await this.objects.put(this.nameOf(this.kind.keyOf(object)), () => this.specOf(object));
  }

  async change(key: string, change: (stored: T) => T | undefined): Promise<T | undefined> {
    const { field } = this.kind;
    const object = await this.objects.update(this.nameOf(key), (spec) => {
      const next = change(structuredClone(spec[field]));
      return next && this.specOf(next);
    });
    return object && structuredClone(object.spec[field]);
  }

  async delete(key: string): Promise<boolean> {
    const object = this.objects.get(this.nameOf(key));
    return object ? this.objects.delete(object) : false;
  }

  async reload(key?: string): Promise<void> {
    if (key === undefined) return this.objects.refresh(AbortSignal.timeout(READ_LIMIT_MS));
    await this.objects.read(this.nameOf(key));
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private specOf(object: T): Record<Field, T> {
    return { [this.kind.field]: object } as Record<Field, T>;
  }

  private nameOf(key: string): string {
    return hashedName(this.kind.prefix, key);
  }

  private report(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
