import { Readable } from 'node:stream';
import {
  ContainerTransfer,
  DomainError,
  throwFirstRefusal,
  type ContainerReading,
  type IngestState,
  type InstanceRef,
  type TransferEnd,
  type TransferPart,
  type TransferPlan,
  type TransferSpec,
} from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { untilIdle, whenIdle } from '../api/when-idle.js';
import { KEY } from '../engine/config-keys.js';
import { configureInstance } from '../engine/configure-instance.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instanceNotFound, instancePath } from '../engine/instance-finder.js';
import { markIn, markOf } from '../engine/operation-mark.js';
import { isStopped } from '../power/start-and-stop.js';
import { poolNames } from '../provisioning/choose-pool.js';
import { dataVolumeName, findVolume, ownVolume, type VolumePlace } from '../provisioning/data-volume.js';
import { rollBack } from '../provisioning/roll-back.js';
import { contentOf, deleteBackup, openBackup, rootOf, type BackupSource } from './backups.js';
import { describeContainer, PARTS } from './describe-container.js';
import { fingerprintOf } from './fingerprint.js';
import { planTransfer, poolOf } from './plan-transfer.js';
import { rewriteInstance, rewriteVolume, type RewrittenCopy } from './rewrite-backup.js';
import { rewriteTar } from './rewrite-tar.js';

/** The server answers an upload once it has all of it: the watchdog of the task ends one that is stuck. */
const UPLOAD_TIMEOUT_MS = 24 * 60 * 60_000;
const PROTECTION = 'security.protection.delete';

/**
 * Copies containers between servers as backups, with their data volumes and all snapshots. The copy has an ID of its
 * own, and a mark until it is complete; both are in its backup before the server gets it.
 */
export class IncusContainerTransfer extends ContainerTransfer {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override async check(): Promise<void> {
    const { api } = this.engine;
    await api.requireExtension('container_backup', 'receive containers');
    await api.requireExtension('custom_volume_backup', 'receive the volumes of containers');
    await api.requireExtension('backup_override_name', 'receive containers under another name');
  }

  override async describe(ref: InstanceRef): Promise<ContainerReading> {
    return describeContainer(this.engine.api, await this.find(ref));
  }

  override async open({ id, ref }: TransferEnd, { part, signal }: TransferPart): Promise<Readable> {
    const instance = await this.find(ref);
    if (!isStopped(instance)) {
      throw new DomainError('WRONG_STATE', `${ref.name} is ${instance.status.toLowerCase()}: stop it first.`);
    }
    return openBackup(this.engine, await this.partOf(instance, part), { id, signal });
  }

  override async fingerprint(end: TransferEnd, part: TransferPart): Promise<string> {
    return fingerprintOf((await this.open(end, part)) as AsyncIterable<Buffer>);
  }

  override async plan(spec: TransferSpec): Promise<TransferPlan> {
    return planTransfer(this.engine, spec);
  }

  override async receive(spec: TransferSpec, { part, signal }: TransferPart, archive: Readable): Promise<void> {
    const { engine } = this;
    const { api, finder } = engine;
    try {
      const isFirst = part === spec.container.parts[0];
      // All parts of an attempt belong together.
      if (isFirst) {
        await this.discard(spec);
        throwFirstRefusal(await planTransfer(engine, spec));
      }
      const project = await finder.projectOf(spec.ref.namespace);
      const pool = await poolOf(engine, project, spec);
      const copy = copyOf(spec, pool);
      const isData = part === PARTS.data;
      const rewrite = isData ? rewriteVolume(copy) : rewriteInstance(copy);
      const body = Readable.from(rewriteTar(archive as AsyncIterable<Buffer>, rewrite), { objectMode: false });
      const name = isData ? dataVolumeName(spec.ref.name) : spec.ref.name;
      const path = isData ? `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom` : '/1.0/instances';
      try {
        await api.send('POST', path, {
          query: { project },
          body,
          signal,
          timeoutMs: UPLOAD_TIMEOUT_MS,
          headers: { 'content-type': 'application/octet-stream', ...placeHeaders({ name, pool }) },
        });
      } finally {
        body.destroy();
      }
    } finally {
      archive.destroy();
    }
  }

  override async commit(target: TransferEnd): Promise<void> {
    const found = await this.copyAt(target);
    if (!found) throw instanceNotFound(target.ref);
    if (markIn(found) !== markOfCopy(target)) return;
    await configureInstance(this.engine, target.ref, found, { [KEY.operation]: undefined });
  }

  override async discard(target: TransferEnd): Promise<void> {
    const { engine } = this;
    const { api, finder } = engine;
    const { id, ref } = target;
    const { name } = ref;
    const project = await finder.projectOf(ref.namespace);
    await untilIdle(api, project, [name, dataVolumeName(name)]);
    const found = await this.copyAt(target);
    if (found && markIn(found) !== markOfCopy(target)) {
      throw new DomainError('WRONG_STATE', `${name} is complete in ${ref.context}, so it is not removed.`);
    }
    if (found?.expanded_config[PROTECTION] === 'true') {
      await whenIdle(api, found, () =>
        api.send('PATCH', instancePath(found), { query: { project }, body: { config: { [PROTECTION]: 'false' } } }),
      );
    }
    const volume = (await this.volumeAt(project, target)) ?? { project };
    await rollBack(engine, { name, volume, creation: id });
  }

  override async state(target: TransferEnd): Promise<IngestState> {
    const found = await this.copyAt(target);
    if (found) return markIn(found) === markOfCopy(target) ? 'partial' : 'committed';
    const project = await this.engine.finder.projectOf(target.ref.namespace);
    return (await this.volumeAt(project, target)) ? 'partial' : 'absent';
  }

  override async release({ id, ref }: TransferEnd): Promise<void> {
    const { engine } = this;
    try {
      const instance = await this.find(ref);
      const volume = await ownVolume(engine.api, instance);
      await deleteBackup(engine, rootOf(instance), id);
      if (volume) await deleteBackup(engine, contentOf(volume), id);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND')) throw error;
    }
  }

  private async find(ref: InstanceRef): Promise<InstanceObject> {
    const found = await this.engine.finder.find(ref);
    if (found.type === 'container') return found;
    throw instanceNotFound(ref);
  }

  private async partOf(instance: InstanceObject, part: string): Promise<BackupSource> {
    if (part === PARTS.root) return rootOf(instance);
    const volume = await ownVolume(this.engine.api, instance);
    if (part === PARTS.data && volume) return contentOf(volume);
    throw new DomainError('DEVICE_NOT_FOUND', `${instance.name} has no volume ${part}.`);
  }

  /** The copy, not another instance with its name. */
  private async copyAt({ id, ref }: TransferEnd): Promise<InstanceObject | undefined> {
    const { finder } = this.engine;
    const project = await finder.projectOf(ref.namespace);
    const found = await finder.read({ project, name: ref.name });
    return found?.config[KEY.creation] === id ? found : undefined;
  }

  /** Its data volume, in whichever pool it is. */
  private async volumeAt(project: string, { id, ref }: TransferEnd): Promise<VolumePlace | undefined> {
    const { api } = this.engine;
    for (const pool of await poolNames(api)) {
      const place = { pool, project, name: dataVolumeName(ref.name) };
      if ((await findVolume(api, place))?.config[KEY.creation] === id) return place;
    }
    return undefined;
  }
}

const markOfCopy = ({ id, ref }: TransferEnd): string => markOf('move', ref.name, id);

const copyOf = (spec: TransferSpec, pool: string): RewrittenCopy => ({
  id: spec.id,
  mark: markOfCopy(spec),
  pool,
  networks: spec.mapping.networks,
  ...(spec.container.parts.includes(PARTS.data) && { volume: dataVolumeName(spec.ref.name) }),
});

/** Each engine reads only its own. The server of a volume takes the pool from the path. */
const placeHeaders = ({ name, pool }: { readonly name: string; readonly pool: string }) =>
  Object.fromEntries(
    ['incus', 'lxd'].flatMap((engine) => [
      [`x-${engine}-name`, name],
      [`x-${engine}-pool`, pool],
    ]),
  );
