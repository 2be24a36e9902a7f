import { alreadyExists, conflict, notFound, type Subject } from './api-error.js';
import type { SandboxClock } from './clock.js';
import { copyUnfrozen, deepCopy, deepFreeze, shareUnchanged } from './deep-copy.js';
import { keyOf, type KubeObject, type ObjectKey } from './kube-object.js';
import { storageApiVersion, type ResourceRegistry } from './resource-registry.js';
import { ChangeLog } from './store/change-log.js';
import { DeletionPlan, type DeleteOptions } from './store/deletion-plan.js';
import { EventDispatcher } from './store/event-dispatcher.js';
import { filterObjects, type ListOptions } from './store/list-query.js';
import { generateName, newUid } from './store/new-object.js';
import { type ObjectAtRest, type ObjectsAtRest, UnbuiltObject } from './store/objects-at-rest.js';
import { OwnerIndex, type ObjectAddress } from './store/owner-index.js';
import { pastObjects } from './store/past-objects.js';
import { ResourceTable } from './store/resource-table.js';
import type { StoreEvent, StoreListener, SubscribeOptions } from './store/store-event.js';
import { changesGeneration, keepServerFields } from './store/write-rules.js';

export type { ListOptions };

export interface WriteOptions {
  /** Returns the result without committing it. */
  dryRun?: boolean;
}

export interface ObjectStoreOptions {
  registry: ResourceRegistry;
  clock: SandboxClock;
  /** Changes kept per resource for watches that resume; default 20,000. */
  historyLimit?: number;
}

/**
 * Holds every object in memory, as etcd and the generic registry do for a real server: one revision over all resources,
 * optimistic locking, finalizers, a bounded history of changes.
 *
 * Resources are named as Kubernetes prints them: `pods`, `deployments.apps`. Returned objects are deeply frozen and
 * arguments are copied, so callers can't change stored objects. Writes are synchronous, and listeners are called before
 * a write returns. Admission and schemas are the concern of the HTTP layer.
 */
export class ObjectStore {
  private readonly registry: ResourceRegistry;
  private readonly clock: SandboxClock;
  private readonly tables = new Map<string, ResourceTable>();
  private readonly log: ChangeLog;
  private readonly owners = new OwnerIndex();
  private readonly dispatcher = new EventDispatcher();

  constructor({ registry, clock, historyLimit = 20_000 }: ObjectStoreOptions) {
    this.registry = registry;
    this.clock = clock;
    this.log = new ChangeLog(historyLimit);
  }

  /** The revision of the last change. */
  get revision(): number {
    return this.log.revision;
  }

  get<T extends KubeObject>(resource: string, key: ObjectKey): T | undefined {
    return this.tables.get(resource)?.get(key) as T | undefined;
  }

  /** @throws ApiError 404 */
  require<T extends KubeObject>(resource: string, key: ObjectKey): T {
    const found = this.get<T>(resource, key);
    if (!found) throw notFound(this.subject(resource, key.name));
    return found;
  }

  /** Objects by namespace and name. */
  list<T extends KubeObject>(resource: string, query: ListOptions<T> = {}): T[] {
    return [...filterObjects(this.tables.get(resource)?.walk(query.namespace) ?? [], query)];
  }

  /** At most `limit` objects by namespace and name, after a key; objects at rest beyond them are not built. */
  page<T extends KubeObject>(
    resource: string,
    { after, limit, ...query }: ListOptions<T> & { after?: ObjectKey; limit: number },
  ): T[] {
    const objects: T[] = [];
    if (limit === 0) return objects;
    for (const object of filterObjects(this.tables.get(resource)?.walk(query.namespace, after) ?? [], query)) {
      objects.push(object);
      if (objects.length === limit) break;
    }
    return objects;
  }

  /** The keys of all objects, which need not be built for it, by namespace and name. */
  keys(resource: string): ObjectKey[] {
    return [...(this.tables.get(resource)?.keys() ?? [])];
  }

  /** The keys of the objects at rest that are not built yet, among the first `limit` after a key. */
  unbuiltKeys(
    resource: string,
    { namespace, after, limit }: { namespace?: string; after?: ObjectKey; limit?: number },
  ): ObjectKey[] {
    return this.tables.get(resource)?.unbuiltKeys(namespace, after, limit) ?? [];
  }

  /** The number of objects after a key. */
  countAfter(resource: string, namespace: string | undefined, after: ObjectKey): number {
    return this.tables.get(resource)?.countAfter(namespace, after) ?? 0;
  }

  /** The number of objects of a resource, optionally in one namespace. */
  count(resource: string, namespace?: string): number {
    const table = this.tables.get(resource);
    return (namespace === undefined ? table?.size : table?.sizeOf(namespace)) ?? 0;
  }

  /**
   * The objects at a past revision.
   * @throws ApiError 410 when the history no longer contains it
   */
  listAt<T extends KubeObject>(resource: string, revision: number, query: ListOptions<T> = {}): T[] {
    const changes = this.eventsSince(resource, revision);
    if (changes.length === 0) return this.list(resource, query);
    const present = this.tables.get(resource)?.walk(query.namespace) ?? [];
    return [...filterObjects(pastObjects(present, changes, query.namespace), query)];
  }

  findByUid<T extends KubeObject>(uid: string): { resource: string; object: T } | undefined {
    const address = this.owners.addressOf(uid);
    const object = address && this.get<T>(address.resource, address);
    return address && object ? { resource: address.resource, object } : undefined;
  }

  /** The addresses of the objects that have this uid among their owners. */
  dependentsOf(uid: string): ObjectAddress[] {
    return this.owners.dependentsOf(uid);
  }

  /** The objects of one resource that are owned by a uid. */
  ownedBy<T extends KubeObject>(resource: string, uid: string): T[] {
    return this.owners
      .dependentsOf(uid)
      .filter((address) => address.resource === resource)
      .map((address) => this.require<T>(resource, address));
  }

  /** @throws ApiError 409 AlreadyExists */
  create<T extends KubeObject>(resource: string, object: T, options: WriteOptions = {}): T {
    const created = this.stamped(resource, object);
    if (options.dryRun) return deepFreeze(created);
    return this.commitAndNotify({ type: 'ADDED', resource, object: created });
  }

  /**
   * Replaces an object. A `resourceVersion` in it must be the current one.
   * @throws ApiError 404, 409 Conflict
   */
  update<T extends KubeObject>(resource: string, object: T, options: WriteOptions = {}): T {
    const previous = this.require<T>(resource, keyOf(object));
    const { resourceVersion, uid } = object.metadata;
    const subject = this.subject(resource, object.metadata.name);
    if (resourceVersion && resourceVersion !== previous.metadata.resourceVersion) throw conflict(subject);
    if (uid && uid !== previous.metadata.uid) {
      throw conflict(
        subject,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${previous.metadata.uid}`,
      );
    }
    return this.replace(resource, previous, deepCopy(object), options);
  }

  /**
   * Changes an object through a function that edits a draft. An unchanged draft creates no revision and no event.
   * @throws ApiError 404
   */
  patch<T extends KubeObject>(
    resource: string,
    key: ObjectKey,
    change: (draft: T) => void,
    options: WriteOptions = {},
  ): T {
    const previous = this.require<T>(resource, key);
    const draft = deepCopy(previous);
    change(draft);
    return this.replace(resource, previous, draft, options);
  }

  /**
   * Deletes an object, or marks it for deletion when it has finalizers or a grace period.
   * @returns the last state; `gone` is true when the object was removed
   * @throws ApiError 404, 409 when a precondition fails
   */
  delete<T extends KubeObject>(
    resource: string,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): { object: T; gone: boolean } {
    const previous = this.require<T>(resource, key);
    const definition = this.registry.get(resource);
    const plan = new DeletionPlan(previous, definition, this.clock, options);
    plan.checkPreconditions(this.subject(resource, key.name));
    if (plan.isImmediate()) {
      if (options.dryRun) return { object: previous, gone: true };
      return {
        object: this.commitAndNotify({
          type: 'DELETED',
          resource,
          object: { ...previous, metadata: { ...previous.metadata } },
          previous,
        }),
        gone: true,
      };
    }
    const marked = plan.mark(deepCopy(previous));
    return {
      object: this.replace(resource, previous, marked, { ...options, generation: marked.metadata.generation }),
      gone: false,
    };
  }

  /**
   * Adds many objects at the same time, each to the resource of its kind, and keeps their uids, timestamps and status;
   * a fast way to seed a cluster. @throws ApiError 409 AlreadyExists; the preceding objects have been added by then
   * @param options.keepsGeneration whether the objects keep their generations as well, because they come from another
   *   cluster
   */
  load(objects: Iterable<KubeObject>, { keepsGeneration = false }: { keepsGeneration?: boolean } = {}): void {
    const events: StoreEvent[] = [];
    try {
      for (const object of objects) {
        const resource = this.registry.resourceOf(object);
        const generation = keepsGeneration ? object.metadata.generation : undefined;
        events.push(this.commit({ type: 'ADDED', resource, object: this.stamped(resource, object, generation) }));
      }
    } finally {
      this.dispatcher.dispatch(events);
    }
  }

  /**
   * Adds objects in a state that no controller would change, and builds them when they are first read: the fast way to
   * seed a large cluster. Watches that are open receive them; one that resumes from an earlier revision gets 410.
   * @throws ApiError 409 AlreadyExists; the preceding objects have been added by then
   */
  loadAtRest(groups: Iterable<ObjectsAtRest>): void {
    const resources = new Map<string, { observed: boolean }>();
    const observed: UnbuiltObject[] = [];
    try {
      for (const group of groups) {
        for (const object of this.addUnbuilt(group)) {
          let known = resources.get(object.resource);
          if (!known) {
            known = { observed: this.dispatcher.hasListeners(object.resource, 'at-load') };
            resources.set(object.resource, known);
          }
          if (known.observed) observed.push(object);
        }
      }
    } finally {
      for (const resource of resources.keys()) this.log.compactResource(resource);
      const events = observed.map((unbuilt) => ({
        type: 'ADDED' as const,
        resource: unbuilt.resource,
        object: this.require(unbuilt.resource, unbuilt),
        revision: unbuilt.revision,
      }));
      this.dispatcher.dispatch(events, 'at-load');
    }
  }

  /**
   * Calls the listener for every change of a resource, or of all resources with `*`, until the returned function is
   * called. It must not be subscribed twice to the same resource.
   */
  subscribe(resource: string, listener: StoreListener, options?: SubscribeOptions): () => void {
    return this.dispatcher.subscribe(resource, listener, options);
  }

  /**
   * The changes of a resource after a revision, oldest first.
   * @throws ApiError 410 when some of them have been compacted
   */
  eventsSince(resource: string, revision: number): StoreEvent[] {
    return this.log.since(resource, revision);
  }

  /** Compacts the history up to a revision, by default all of it: watches that resume before it get 410. */
  compact(revision = this.revision): void {
    this.log.compact(revision);
  }

  subject(resource: string, name?: string): Subject {
    const { group, plural } = this.registry.get(resource);
    return { group, resource: plural, name };
  }

  /** Whether the server itself has this kind. */
  isBuiltIn(kind: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
    return this.registry.findByKind(kind.apiVersion, kind.kind)?.builtIn === true;
  }

  private addUnbuilt(group: ObjectsAtRest): UnbuiltObject[] {
    const unbuilt: UnbuiltObject[] = [];
    let building = false;
    const build = (): void => {
      // What reads an object of the group while it is built, finds none.
      if (building) return;
      building = true;
      try {
        this.build(group, unbuilt);
      } finally {
        building = false;
      }
    };
    for (const member of group.members) {
      if (this.table(member.resource).has(member))
        throw alreadyExists(this.subject(member.resource, member.name), false);
    }
    for (const member of group.members) {
      const object = new UnbuiltObject(member, this.log.next(), build);
      this.table(member.resource).setUnbuilt(object);
      this.owners.addUnbuilt(member.uid, member.owners ?? [], object);
      unbuilt.push(object);
    }
    return unbuilt;
  }

  private build({ members, build }: ObjectsAtRest, unbuilt: readonly UnbuiltObject[]): void {
    const events = build().map((object, index) => {
      const { resource, revision } = unbuilt[index]!;
      const built = deepFreeze(this.completed(object, members[index]!, revision));
      this.table(resource).set(built);
      return { type: 'ADDED' as const, resource, object: built, revision };
    });
    this.dispatcher.dispatch(events, 'when-built');
  }

  /** Adds the fields that the server sets. */
  private completed(
    object: KubeObject,
    { resource, namespace, name, uid }: ObjectAtRest,
    revision: number,
  ): KubeObject {
    const definition = this.registry.get(resource);
    const metadata = { ...object.metadata, name, uid, resourceVersion: String(revision) };
    if (namespace !== undefined) metadata.namespace = namespace;
    metadata.creationTimestamp ??= this.clock.timestamp();
    if (definition.hasGeneration === false) delete metadata.generation;
    else metadata.generation = 1;
    return { ...object, apiVersion: storageApiVersion(definition), kind: definition.kind, metadata };
  }

  private stamped<T extends KubeObject>(resource: string, object: T, generation = 1): T {
    const definition = this.registry.get(resource);
    const draft = copyUnfrozen({ ...object, metadata: deepCopy(object.metadata) });
    const { metadata } = draft;
    draft.apiVersion = storageApiVersion(definition);
    draft.kind = definition.kind;
    if (!definition.namespaced) delete metadata.namespace;
    if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName);
    const existing = this.get(resource, metadata);
    if (existing)
      throw alreadyExists(this.subject(resource, metadata.name), Boolean(existing.metadata.deletionTimestamp));
    metadata.uid ??= newUid();
    metadata.creationTimestamp ??= this.clock.timestamp();
    if (definition.hasGeneration === false) delete metadata.generation;
    else metadata.generation = generation;
    delete metadata.resourceVersion;
    return draft;
  }

  private replace<T extends KubeObject>(
    resource: string,
    previous: T,
    draft: T,
    { dryRun = false, generation }: WriteOptions & { generation?: number },
  ): T {
    keepServerFields(draft, previous);
    if (shareUnchanged(previous, draft) === previous) return previous;
    if (Object.isFrozen(draft.metadata)) draft.metadata = { ...draft.metadata };
    const definition = this.registry.get(resource);
    if (generation !== undefined) draft.metadata.generation = generation;
    else if (definition.hasGeneration !== false && changesGeneration(previous, draft, definition)) {
      draft.metadata.generation = (previous.metadata.generation ?? 0) + 1;
    }
    if (dryRun) return deepFreeze(draft);
    const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = draft.metadata;
    const held = finalizers.length > 0 || deletionGracePeriodSeconds > 0 || definition.strategy?.holdsDeletion?.(draft);
    const released = deletionTimestamp !== undefined && !held;
    return this.commitAndNotify({ type: released ? 'DELETED' : 'MODIFIED', resource, object: draft, previous });
  }

  private commitAndNotify<T extends KubeObject>(change: Omit<StoreEvent<T>, 'revision'>): T {
    const event = this.commit(change);
    this.dispatcher.dispatch([event]);
    return event.object as T;
  }

  private commit(change: Omit<StoreEvent, 'revision'>): StoreEvent {
    const revision = this.log.next();
    change.object.metadata.resourceVersion = String(revision);
    const event: StoreEvent = { ...change, object: deepFreeze(change.object), revision };
    const { type, resource, object, previous } = event;
    if (type === 'DELETED') this.tables.get(resource)?.remove(object.metadata);
    else this.table(resource).set(object);
    this.owners.change(resource, previous, type === 'DELETED' ? undefined : object);
    this.log.add(event);
    return event;
  }

  private table(resource: string): ResourceTable {
    let table = this.tables.get(resource);
    if (!table) this.tables.set(resource, (table = new ResourceTable()));
    return table;
  }
}
