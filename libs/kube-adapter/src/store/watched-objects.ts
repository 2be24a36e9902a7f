import { DomainError, messageOf, SILENT_LOG, type Log } from '@headgate/domain-contracts';
import { isNotFound, isOutcomeUnknown, isWriteConflict } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';
import { withRemedy, type ClusterStore, type StoreWatch } from './cluster-store.js';

/** The format of the objects that this release reads and writes. */
const FORMAT = 1;
const MAX_ATTEMPTS = 8;
const MAX_DELETED = 1000;

/** The fields that every object has besides its own. */
export interface StoredSpec {
  readonly formatVersion: number;
  /** Grows with each write. */
  readonly revision: number;
}

export interface StoredObject<Spec> extends KubeObject {
  readonly spec: Spec & StoredSpec;
}

export interface WatchedObjectsOptions<Spec> {
  readonly resource: Resource;
  /** What the objects contain, for messages: "API token". */
  readonly subject: string;
  /** Whether an object of a readable format has all fields. */
  readonly isComplete: (spec: Partial<Spec>) => boolean;
  /** Called after another replica has written or deleted an object; undefined for a deleted one. */
  readonly onChange?: (object: StoredObject<Spec> | undefined) => void;
  /** Whether the store starts although it has objects that can't be read. They are skipped. */
  readonly skipsUnreadable?: boolean;
  readonly log?: Log;
}

/**
 * The objects of one kind, which every replica reads from a watch and writes with the version that it replaces. A write
 * of this process is visible when it returns; an object that it has deleted does not come back.
 */
export class WatchedObjects<Spec extends object> {
  private readonly objects = new Map<string, StoredObject<Spec>>();
  /** The UIDs of the last objects that this process has deleted: the watch may still report older versions of them. */
  private readonly deleted = new Set<string>();
  /** The unreadable versions that were logged, by the names of their objects. */
  private readonly skipped = new Map<string, string>();
  /**
   * The names of the objects that have changed while all of them are read again: the versions in that list may be
   * older.
   */
  private changed: Set<string> | undefined;
  private watch: StoreWatch | undefined;
  private isOpen = false;

  constructor(
    private readonly store: ClusterStore,
    private readonly options: WatchedObjectsOptions<Spec>,
  ) {}

  /**
   * Reads all objects and follows their changes.
   * @throws DomainError NOT_READY when they can't be used; they are left as they are
   */
  async open(): Promise<void> {
    this.watch = this.store.watch<StoredObject<Spec>>(this.options.resource, {
      upsert: (object) => this.accept(object),
      remove: (key) => this.forget(key.slice(key.indexOf('/') + 1)),
      keys: () => [...this.objects.keys()].map((name) => `${this.store.namespace}/${name}`),
    });
    try {
      await this.watch.listed;
    } catch (error) {
      throw withRemedy(error);
    }
    this.isOpen = true;
  }

  async close(): Promise<void> {
    await this.watch?.stop();
  }

  get(name: string): StoredObject<Spec> | undefined {
    return this.objects.get(name);
  }

  all(): StoredObject<Spec>[] {
    return [...this.objects.values()];
  }

  /**
   * Reads all objects again, because a watch whose connection was dropped silently would report a change only after
   * minutes.
   * @throws DomainError when the API server does not answer
   */
  async refresh(signal: AbortSignal): Promise<void> {
    const { api, namespace } = this.store;
    const known = [...this.objects.keys()];
    const changed = (this.changed = new Set());
    try {
      const listed = await api.list<StoredObject<Spec>>(this.options.resource, { namespace, signal });
      const names = new Set(listed.map(({ metadata }) => metadata.name ?? ''));
      for (const object of listed) if (!changed.has(object.metadata.name ?? '')) this.accept(object);
      for (const name of known) if (!names.has(name) && !changed.has(name)) this.forget(name);
    } finally {
      if (this.changed === changed) this.changed = undefined;
    }
  }

  /**
   * @throws DomainError ALREADY_EXISTS, also when a repeated request finds the object that the first one has created
   */
  async create(name: string, spec: Spec): Promise<StoredObject<Spec>> {
    const { api, namespace } = this.store;
    const object = await api.create<StoredObject<Spec>>(this.options.resource, {
      metadata: { namespace, name },
      spec: { ...spec, formatVersion: FORMAT, revision: 1 },
    } as StoredObject<Spec>);
    return this.keep(object);
  }

  /**
   * Creates an object, or changes the one of the same name, also if another replica has just created or deleted it.
   * @param change is called with the latest version, and throws if it may not be replaced
   */
  async put(name: string, change: (stored: (Spec & StoredSpec) | undefined) => Spec): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (await this.update(name, change)) return;
      try {
        return void (await this.create(name, change(undefined)));
      } catch (error) {
        if (!DomainError.is(error, 'ALREADY_EXISTS') || attempt === MAX_ATTEMPTS) throw error;
        // A request that was repeated may have created it.
        await this.read(name);
      }
    }
  }

  /** Reads an object from the API server. */
  async read(name: string): Promise<StoredObject<Spec> | undefined> {
    const { api, namespace } = this.store;
    const object = await api.find<StoredObject<Spec>>(this.options.resource, { namespace, name });
    if (object) return this.keep(this.expectReadable(object));
    this.objects.delete(name);
    return undefined;
  }

  /**
   * Replaces the version that is known here.
   * @throws DomainError CONFLICT when another replica has written the object since
   */
  async replace(object: StoredObject<Spec>, spec: Spec): Promise<StoredObject<Spec>> {
    const next = { ...spec, formatVersion: FORMAT, revision: object.spec.revision + 1 };
    return this.keep(
      await this.store.api.replace<StoredObject<Spec>>(this.options.resource, { ...object, spec: next }),
    );
  }

  /**
   * Changes the latest version of an object.
   * @param change returns undefined to leave it as it is. Called again with the latest version after a conflict or a
   *   lost response, so it must recognize its own change if that may not happen twice
   * @returns the object; undefined if there is none
   */
  async update(
    name: string,
    change: (spec: Spec & StoredSpec) => Spec | undefined,
  ): Promise<StoredObject<Spec> | undefined> {
    let object = this.get(name);
    for (let attempt = 1; object; attempt++) {
      const spec = change(object.spec);
      if (!spec) return object;
      try {
        return await this.replace(object, spec);
      } catch (error) {
        const isRepeatable = isWriteConflict(error) || isOutcomeUnknown(error) || isNotFound(error);
        if (!isRepeatable || attempt === MAX_ATTEMPTS) throw error;
        object = await this.read(name);
      }
    }
    return undefined;
  }

  /** @returns false when it was already gone */
  async delete({ metadata }: StoredObject<Spec>): Promise<boolean> {
    const { name = '', uid = '' } = metadata;
    const { api, namespace } = this.store;
    this.deleted.add(uid);
    try {
      const existed = await api.delete(this.options.resource, { namespace, name }, { uid });
      this.changed?.add(name);
      if (this.objects.get(name)?.metadata.uid === uid) this.objects.delete(name);
      for (const oldest of this.deleted) {
        if (this.deleted.size <= MAX_DELETED) break;
        this.deleted.delete(oldest);
      }
      return existed;
    } catch (error) {
      this.deleted.delete(uid);
      throw error;
    }
  }

  private accept(object: StoredObject<Spec>): void {
    const { name = '', uid = '' } = object.metadata;
    if (this.deleted.has(uid)) return;
    this.changed?.add(name);
    try {
      this.expectReadable(object);
    } catch (error) {
      if (!this.isOpen && !this.options.skipsUnreadable) throw error;
      return this.skip(object, error);
    }
    if (!this.isNewer(object)) return;
    this.objects.set(name, object);
    this.options.onChange?.(object);
  }

  private skip({ metadata: { name = '', resourceVersion = '' } }: StoredObject<Spec>, error: unknown): void {
    const { log = SILENT_LOG, onChange } = this.options;
    if (this.skipped.get(name) !== resourceVersion)
      log.warn({ reason: messageOf(error) }, 'an object of the store was skipped');
    this.skipped.set(name, resourceVersion);
    // The earlier version is not used any more: it may be a token whose rights were reduced.
    if (this.objects.delete(name)) onChange?.(undefined);
  }

  private forget(name: string): void {
    this.changed?.add(name);
    this.skipped.delete(name);
    // If that was an earlier object of the same name, the watch reports the present one next.
    if (this.objects.delete(name)) this.options.onChange?.(undefined);
  }

  private keep(object: StoredObject<Spec>): StoredObject<Spec> {
    const { name = '' } = object.metadata;
    this.changed?.add(name);
    if (this.isNewer(object)) this.objects.set(name, object);
    return object;
  }

  private isNewer({ metadata, spec }: StoredObject<Spec>): boolean {
    const known = this.objects.get(metadata.name ?? '');
    if (!known || known.metadata.uid !== metadata.uid) return true;
    const difference = spec.revision - known.spec.revision;
    // An administrator may have edited it without a new revision.
    return difference > 0 || (difference === 0 && known.metadata.resourceVersion !== metadata.resourceVersion);
  }

  /** @throws DomainError NOT_READY for an object that this release can't read */
  private expectReadable(object: StoredObject<Spec>): StoredObject<Spec> {
    const { subject, isComplete } = this.options;
    const name = `${object.metadata.namespace}/${object.metadata.name}`;
    const { formatVersion, revision } = (object.spec ?? {}) as Partial<StoredSpec>;
    if (typeof formatVersion === 'number' && formatVersion > FORMAT)
      throw new DomainError(
        'NOT_READY',
        `The store can't be used: a newer release wrote the ${subject} ${name} (format ${formatVersion}, this release reads ${FORMAT}). It was left as it is; use the newer release.`,
      );
    if (formatVersion === FORMAT && typeof revision === 'number' && isComplete(object.spec)) return object;
    throw new DomainError(
      'NOT_READY',
      `The store can't be used: the ${subject} ${name} is damaged. It was left as it is; delete it to give it up.`,
    );
  }
}
