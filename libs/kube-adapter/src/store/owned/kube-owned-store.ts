import { SILENT_LOG, type Log, type OwnedObject, type OwnedStore } from '@headgate/domain-contracts';
import type { Resource } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { hashedName } from '../hashed-name.js';
import { WatchedObjects } from '../watched-objects.js';

/** A kind of objects of users, each in a custom resource. */
export interface OwnedKind<T extends OwnedObject, Field extends string> {
  readonly resource: Resource;
  /** In messages: "SSH key". */
  readonly subject: string;
  /** In the names of the custom resources. */
  readonly prefix: string;
  /** The field of the spec that has the object. */
  readonly field: Field;
  readonly isComplete: (object: Partial<T>) => boolean;
  readonly order: (a: T, b: T) => number;
}

/** An OwnedStore in custom resources of a cluster, one for each object. */
export class KubeOwnedStore<T extends OwnedObject, Field extends string> implements OwnedStore<T> {
  private readonly objects: WatchedObjects<Record<Field, T>>;

  constructor(
    store: ClusterStore,
    private readonly kind: OwnedKind<T, Field>,
    log: Log = SILENT_LOG,
  ) {
    const { resource, subject, field, isComplete } = kind;
    this.objects = new WatchedObjects(store, {
      resource,
      subject,
      isComplete: (spec: Partial<Record<Field, T>>) => isComplete(spec[field] ?? {}),
      log,
    });
  }

  /** @throws DomainError NOT_READY when the objects can't be used; they are left as they are */
  open(): Promise<void> {
    return this.objects.open();
  }

  close(): Promise<void> {
    return this.objects.close();
  }

  put(object: T): Promise<void> {
    return this.objects.put(
      this.nameOf(object.owner, object.id),
      () => ({ [this.kind.field]: object }) as Record<Field, T>,
    );
  }

  async delete(owner: string, id: string): Promise<boolean> {
    const object = this.objects.get(this.nameOf(owner, id));
    return object ? this.objects.delete(object) : false;
  }

  of(owner: string): readonly T[] {
    return this.all().filter((one) => one.owner === owner);
  }

  all(): readonly T[] {
    return this.objects
      .all()
      .map(({ spec }) => ({ ...spec[this.kind.field] }))
      .sort(this.kind.order);
  }

  async change(owner: string, id: string, change: (stored: T) => T | undefined): Promise<T | undefined> {
    const { field } = this.kind;
    const object = await this.objects.update(this.nameOf(owner, id), (spec) => {
      const next = change({ ...spec[field] });
      return next && ({ [field]: next } as Record<Field, T>);
    });
    return object && { ...object.spec[field] };
  }

  count(): number {
    return this.objects.all().length;
  }

  private nameOf(owner: string, id: string): string {
    return hashedName(this.kind.prefix, JSON.stringify([owner, id]));
  }
}
