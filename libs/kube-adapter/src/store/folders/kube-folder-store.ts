import { randomUUID } from 'node:crypto';
import {
  DomainError,
  FolderStore,
  runConcurrently,
  type FolderDelta,
  type FolderRecords,
} from '@headgate/domain-contracts';
import { isOutcomeUnknown, isWriteConflict } from '../../api/kube-api-error.js';
import { FOLDER_SHARDS, FOLDER_TREES } from '../../api/resources.js';
import { withRemedy, type ClusterStore } from '../cluster-store.js';
import {
  applyDelta,
  BOUND_SINCE,
  damaged,
  EMPTY_TREE,
  expectReadable,
  FORMAT_VERSION,
  MAX_OBJECT_BYTES,
  MAX_RECENT,
  membersOf,
  refOfEntry,
  REF_FORMAT_VERSION,
  Shard,
  shardOf,
  SHARD_COUNT,
  type Assignment,
  type FolderShardObject,
  type FolderTreeObject,
  type FolderTreeSpec,
} from './folder-objects.js';

/** The name of the only FolderTree of a namespace. */
const TREE = 'folders';
const MAX_CONCURRENT_SHARDS = 8;
/** More shards than this are listed instead of read one by one. */
const MAX_SINGLE_READS = 8;
/** Attempts of a write that meets a conflict or gets no response. */
const MAX_ATTEMPTS = 5;
/** No object has it, so the next change reads the folders again. */
const UNKNOWN_VERSION = '';
const CONFLICT = 'The folders were changed by another request; try again.';

/**
 * FolderStore in custom resources of a cluster. A commit replaces one object, the tree, which makes it atomic: the tree
 * has the folders and the latest assignments, and the shards have the others.
 */
export class KubeFolderStore extends FolderStore {
  private tree: FolderTreeObject | undefined;
  private readonly shards = new Map<number, Shard>();

  constructor(private readonly store: ClusterStore) {
    super();
  }

  /**
   * @throws DomainError NOT_READY when a newer release wrote the objects, or they are damaged; they are left as they
   *   are
   */
  override async read(): Promise<FolderRecords> {
    try {
      return await this.readAll();
    } catch (error) {
      throw withRemedy(error);
    }
  }

  override async commit(version: string, delta: FolderDelta): Promise<string> {
    const { tree } = this;
    if (!tree || versionOf(tree) !== version) throw new DomainError('CONFLICT', CONFLICT);
    const commit = randomUUID();
    // Checked before anything is written.
    let spec = applyDelta(tree.spec, delta, commit);
    if (spec.recent.length > MAX_RECENT) spec = applyDelta(await this.compact(tree.spec), delta, commit);
    if (Buffer.byteLength(JSON.stringify(spec)) > MAX_OBJECT_BYTES)
      throw new DomainError('INVALID_INPUT', 'The folders of a cluster store are limited to about 1 MB of paths.');
    this.tree = await this.replaceTree({ ...tree, spec }, commit);
    return this.tree ? versionOf(this.tree) : UNKNOWN_VERSION;
  }

  /** Empty after a commit that another one has followed, until the folders are read again. */
  override ids(): ReadonlyMap<string, string> {
    const { metadata, spec } = this.tree ?? {};
    // A tree that replaces a deleted one counts from the beginning.
    return new Map(spec?.folders.map(({ path, id }) => [path, `${metadata?.uid}/${id}`]));
  }

  override subscribe(listener: (version: string) => void): () => void {
    const report = (object: FolderTreeObject): void => {
      const isOld = this.tree !== undefined && object.spec?.revision < this.tree.spec.revision;
      if (!isOld && versionOf(object) !== (this.tree && versionOf(this.tree))) listener(versionOf(object));
    };
    let isPresent = false;
    const watch = this.store.watch<FolderTreeObject>(FOLDER_TREES, {
      upsert: (object) => {
        isPresent = true;
        report(object);
      },
      remove: () => {
        isPresent = false;
        listener('');
      },
      keys: () => (isPresent ? [`${this.store.namespace}/${TREE}`] : []),
    });
    return () => watch.stop();
  }

  private async readAll(): Promise<FolderRecords> {
    for (let attempt = 1; ; attempt++) {
      const tree = await this.readTree();
      await this.loadShards(tree.spec);
      // Otherwise, the shards may be newer than the tree.
      const { metadata } = await this.readTree();
      if (metadata.resourceVersion !== tree.metadata.resourceVersion && attempt < MAX_ATTEMPTS) continue;
      this.tree = tree;
      const boundSince = metadata.annotations?.[BOUND_SINCE];
      return {
        version: versionOf(tree),
        paths: tree.spec.folders.map(({ path }) => path),
        members: membersOf(tree.spec, this.shards.values()),
        ...(boundSince !== undefined && { boundSince }),
      };
    }
  }

  private async readTree(): Promise<FolderTreeObject> {
    const { api, namespace } = this.store;
    for (;;) {
      const found = await api.find<FolderTreeObject>(FOLDER_TREES, { namespace, name: TREE });
      if (found) {
        const tree = expectReadable(found, 'FolderTree');
        if (tree.spec.formatVersion !== REF_FORMAT_VERSION) return tree;
        await this.upgrade(tree);
        continue;
      }
      const [left] = await api.list<FolderShardObject>(FOLDER_SHARDS, { namespace });
      if (left) throw damaged(`FolderTree ${namespace}/${TREE}`, `it is missing, but ${left.metadata.name} exists`);
      try {
        return await api.create<FolderTreeObject>(FOLDER_TREES, {
          metadata: { namespace, name: TREE },
          spec: EMPTY_TREE,
        } as FolderTreeObject);
      } catch (error) {
        if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
      }
    }
  }

  /**
   * From here on, replicas of the earlier release refuse the tree: they would add members without IDs, and drop those
   * of others.
   */
  private async upgrade(tree: FolderTreeObject): Promise<void> {
    const { api, clock } = this.store;
    const annotations = { ...tree.metadata.annotations, [BOUND_SINCE]: clock.iso() };
    const next = {
      ...tree,
      metadata: { ...tree.metadata, annotations },
      spec: { ...tree.spec, formatVersion: FORMAT_VERSION },
    };
    try {
      await api.replace<FolderTreeObject>(FOLDER_TREES, next);
    } catch (error) {
      // Another replica was faster, or the response was lost.
      if (!isWriteConflict(error) && !isOutcomeUnknown(error)) throw error;
    }
  }

  /** Reads the shards that are older than the tree demands. */
  private async loadShards({ shards }: FolderTreeSpec): Promise<void> {
    const isMissing = (revision: number, index: number): boolean => (this.shards.get(index)?.revision ?? 0) < revision;
    const old = shards.flatMap((revision, index) => (isMissing(revision, index) ? [index] : []));
    if (old.length > MAX_SINGLE_READS) await this.listShards();
    else await Promise.all(old.map((index) => this.readShard(index)));
    const index = shards.findIndex(isMissing);
    if (index >= 0)
      throw damaged(`FolderShard ${this.store.namespace}/${shardName(index)}`, 'it is missing or too old');
  }

  private async listShards(): Promise<void> {
    const { api, namespace } = this.store;
    for await (const { items } of api.pages<FolderShardObject>(FOLDER_SHARDS, { namespace }))
      for (const object of items) this.keep(object);
  }

  private async readShard(index: number): Promise<Shard | undefined> {
    const { api, namespace } = this.store;
    const object = await api.find<FolderShardObject>(FOLDER_SHARDS, { namespace, name: shardName(index) });
    return object && this.keep(object);
  }

  private keep(object: FolderShardObject): Shard {
    const shard = new Shard(expectReadable(object, 'FolderShard'));
    const { index } = object.spec;
    if (index >= SHARD_COUNT || object.metadata.name !== shardName(index))
      throw damaged(`FolderShard ${this.store.namespace}/${object.metadata.name}`, `its index is ${index}`);
    this.shards.set(index, shard);
    return shard;
  }

  /**
   * Writes the assignments of the tree to their shards. Can be interrupted and repeated, also by several replicas: the
   * tree keeps the assignments until the returned one replaces it.
   */
  private async compact(tree: FolderTreeSpec): Promise<FolderTreeSpec> {
    const groups = Map.groupBy(tree.recent, ({ ref: entry }) => shardOf(refOfEntry(entry)));
    await runConcurrently(groups, MAX_CONCURRENT_SHARDS, ([index, assignments]) =>
      this.writeShard(tree, index, assignments),
    );
    const shards = tree.shards.map((revision, index) => (groups.has(index) ? tree.revision : revision));
    return { ...tree, recent: [], shards };
  }

  private async writeShard(tree: FolderTreeSpec, index: number, assignments: readonly Assignment[]): Promise<void> {
    const { api, namespace } = this.store;
    let shard = this.shards.get(index) ?? (await this.readShard(index));
    for (let attempt = 1; (shard?.revision ?? -1) < tree.revision; attempt++) {
      try {
        const object = shard?.object ?? newShard(namespace, index);
        const next = { ...object, spec: new Shard(object).with(tree, assignments) };
        shard = this.keep(
          shard
            ? await api.replace<FolderShardObject>(FOLDER_SHARDS, next)
            : await api.create<FolderShardObject>(FOLDER_SHARDS, next),
        );
      } catch (error) {
        const isOther = isWriteConflict(error) || DomainError.is(error, 'ALREADY_EXISTS') || isOutcomeUnknown(error);
        if (!isOther || attempt === MAX_ATTEMPTS) throw error;
        shard = await this.readShard(index);
      }
    }
  }

  /**
   * @returns undefined when another commit has followed
   * @throws DomainError CONFLICT when another commit was faster
   */
  private async replaceTree(next: FolderTreeObject, commit: string): Promise<FolderTreeObject | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.store.api.replace(FOLDER_TREES, next);
      } catch (error) {
        if (!isWriteConflict(error) && !isOutcomeUnknown(error)) throw error;
        // The response to an earlier attempt may have been lost.
        const stored = await this.readTree();
        if (stored.spec.commits.includes(commit)) return stored.spec.commits.at(-1) === commit ? stored : undefined;
        if (stored.metadata.resourceVersion !== next.metadata.resourceVersion)
          throw new DomainError('CONFLICT', CONFLICT, { cause: error });
        if (attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}

/** Changes with each write of the tree, also with one of another program. */
const versionOf = ({ metadata }: FolderTreeObject): string => metadata.resourceVersion ?? '';

const shardName = (index: number): string => `shard-${String(index).padStart(2, '0')}`;

const newShard = (namespace: string, index: number): FolderShardObject => ({
  metadata: { namespace, name: shardName(index) },
  spec: { formatVersion: FORMAT_VERSION, index, revision: 0, members: [] },
});
