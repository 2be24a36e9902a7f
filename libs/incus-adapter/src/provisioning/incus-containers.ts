import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Containers,
  DomainError,
  formatBytes,
  refusal,
  throwFirstRefusal,
  type ContainerSpec,
  type InstanceRef,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { whenIdle } from '../api/when-idle.js';
import { tagKey } from '../engine/config-keys.js';
import { configureInstance } from '../engine/configure-instance.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instanceNotFound, instancePath } from '../engine/instance-finder.js';
import { killContainer, startContainer, stopContainer } from '../power/start-and-stop.js';
import { choosePool, type PoolChoice } from './choose-pool.js';
import { createContainer } from './create-container.js';
import { dataVolumeName, deleteVolume, findVolume, ownVolume } from './data-volume.js';
import { findImage, type ImageSource } from './find-image.js';
import { nameRefusals, taken } from './name-refusals.js';

interface Prepared {
  readonly project: string;
  readonly choice?: PoolChoice;
  readonly source?: ImageSource;
  readonly refusals: readonly Refusal[];
}

/** What the operator can do about a refusal whose sentence already says what would be right. */
const SEE_REASON = 'Correct the request as the reason says.';

/** System containers: their root outlives a stop, and their data is on a volume that is deleted with them. */
export class IncusContainers extends Containers {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override async planCreate(spec: ContainerSpec): Promise<Plan> {
    const { refusals, choice } = await this.prepare(spec);
    const { name } = spec.ref;
    const pool = choice?.pool ?? spec.storageClass;
    const size = formatBytes(spec.diskBytes);
    const steps = [
      { name: 'volume', detail: `Volume ${dataVolumeName(name)} of ${size} in the storage pool ${pool}.` },
      { name: 'create', detail: `Container ${name} from ${spec.image}.` },
      { name: 'start', detail: name },
    ];
    return buildPlan(steps, { refusals });
  }

  override async create(spec: ContainerSpec): Promise<void> {
    const { project, choice, source, refusals } = await this.prepare(spec);
    throwFirstRefusal({ refusals });
    if (!choice || !source) throw new DomainError('INTERNAL', 'A creation without refusals has a pool and an image.');
    await createContainer(this.engine, { spec, project, choice, source, creation: randomUUID() });
  }

  override async start(ref: InstanceRef): Promise<void> {
    await startContainer(this.engine.api, await this.find(ref));
  }

  override async stop(ref: InstanceRef): Promise<void> {
    await stopContainer(this.engine.api, await this.find(ref));
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    await configureInstance(this.engine, ref, await this.find(ref), { [tagKey(tag)]: on ? 'true' : undefined });
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const found = await this.find(ref);
    const volume = await ownVolume(this.engine.api, found);
    const steps = [
      { name: 'delete', detail: `Container ${found.name}.` },
      ...(volume ? [{ name: 'delete', detail: `Volume ${volume.name} in the storage pool ${volume.pool}.` }] : []),
    ];
    return buildPlan(steps, { refusals: protectionOf(found) });
  }

  override async delete(ref: InstanceRef): Promise<void> {
    const { api } = this.engine;
    const found = await this.find(ref);
    throwFirstRefusal({ refusals: protectionOf(found) });
    const volume = await ownVolume(api, found);
    await killContainer(api, found);
    await whenIdle(api, found, () =>
      api.send('DELETE', instancePath(found), { query: { project: found.project } }),
    ).catch((error: unknown) => {
      // A container that is ephemeral is deleted when it stops.
      if (!found.ephemeral || !DomainError.is(error, 'INSTANCE_NOT_FOUND')) throw error;
    });
    if (volume) await deleteVolume(api, volume);
  }

  private async find(ref: InstanceRef): Promise<InstanceObject> {
    const found = await this.engine.finder.find(ref);
    if (found.type === 'container') return found;
    throw instanceNotFound(ref);
  }

  private async prepare({ ref, image, storageClass }: ContainerSpec): Promise<Prepared> {
    const { api, finder, pool: configured } = this.engine;
    const refusals: Refusal[] = nameRefusals(ref.name);
    const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!DomainError.is(error, 'INVALID_INPUT', 'IMAGE_NOT_FOUND', 'NOT_SUPPORTED', 'NOT_READY')) throw error;
        refusals.push(refusal(error.code, error.message, SEE_REASON));
        return undefined;
      }
    };
    const project = await attempt(() => finder.projectOf(ref.namespace));
    if (project === undefined) return { project: ref.namespace, refusals };
    if (await finder.read({ project, name: ref.name })) {
      refusals.push(taken(`An instance ${ref.name} already exists in the project ${project}.`));
    }
    const choice = await attempt(() => choosePool(api, project, { requested: storageClass, configured }));
    const source = await attempt(() => findImage(this.engine, project, image));
    if (choice) {
      const place = { pool: choice.pool, project, name: dataVolumeName(ref.name) };
      if (refusals.length === 0 && (await findVolume(api, place))) {
        refusals.push(taken(`A volume ${place.name} already exists in the storage pool ${place.pool}.`));
      }
    }
    return { project, choice, source, refusals };
  }
}

function protectionOf({ name, expanded_config: config }: InstanceObject): Refusal[] {
  if (config['security.protection.delete'] !== 'true') return [];
  const reason = `The container ${name} is protected from deletion by security.protection.delete.`;
  return [refusal('WRONG_STATE', reason, 'Unset that key first.')];
}
