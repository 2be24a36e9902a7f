import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  DomainError,
  InstanceCloning,
  refusal,
  throwFirstRefusal,
  type AcceptedClone,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import { KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instanceNotFound } from '../engine/instance-finder.js';
import { markIn } from '../engine/operation-mark.js';
import { otherDisks } from '../engine/other-disks.js';
import { isStopped } from '../power/start-and-stop.js';
import { poolNames } from '../provisioning/choose-pool.js';
import {
  DATA_DEVICE,
  DATA_PATH,
  dataVolumeName,
  findVolume,
  ownVolume,
  type VolumePlace,
} from '../provisioning/data-volume.js';
import { nameRefusals, taken } from '../provisioning/name-refusals.js';
import {
  cardsWithAddresses,
  copyContainer,
  copyMark,
  incompleteOf,
  isProtected,
  removeCopy,
  type ContainerCopy,
} from './copy-container.js';

const NO_TEMPLATES = 'Containers of Incus and LXD can be cloned at any time: there are no templates of them.';

/** Copies containers, also ones that run, with a copy of their data volume. */
export class IncusCloning extends InstanceCloning {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override async planClone(source: InstanceRef, target: InstanceRef): Promise<Plan> {
    return this.planOf(await this.copyOf(source, target));
  }

  override async clone(source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<AcceptedClone> {
    const copy = await this.copyOf(source, target, key);
    throwFirstRefusal(await this.planOf(copy));
    return { remaining: (report) => copyContainer(this.engine, copy, report) };
  }

  override async stateOf(source: InstanceRef, target: InstanceRef, { id }: OperationKey): Promise<OperationState> {
    const { finder } = this.engine;
    const project = await finder.projectOf(source.namespace);
    const found = await finder.read({ project, name: target.name });
    if (found?.config[KEY.creation] === id) {
      return { state: markIn(found) === copyMark({ name: target.name, creation: id }) ? 'running' : 'done' };
    }
    return { state: (await this.volumeOf(project, target, id)) ? 'running' : 'absent' };
  }

  override async resume(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    const copy = await this.copyOf(source, target, key);
    return async (report) => {
      // It may be incomplete, if the server was killed as well.
      await removeCopy(this.engine, incompleteOf(copy));
      await copyContainer(this.engine, copy, report);
    };
  }

  override async discard(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<void> {
    const { state } = await this.stateOf(source, target, key);
    if (state === 'done') return;
    // The source may be gone.
    const project = await this.engine.finder.projectOf(source.namespace);
    const volume = (await this.volumeOf(project, target, key.id)) ?? { project };
    await removeCopy(this.engine, { name: target.name, creation: key.id, volume });
  }

  override async planTemplate(ref: InstanceRef): Promise<Plan> {
    await this.find(ref);
    return buildPlan([], { refusals: [refusal('NOT_SUPPORTED', NO_TEMPLATES, 'Clone the container.')] });
  }

  override async setTemplate(ref: InstanceRef): Promise<void> {
    await this.find(ref);
    throw new DomainError('NOT_SUPPORTED', NO_TEMPLATES);
  }

  private async find(ref: InstanceRef) {
    const found = await this.engine.finder.find(ref);
    if (found.type === 'container') return found;
    throw instanceNotFound(ref);
  }

  /** The volume of a copy, in whichever pool it is. */
  private async volumeOf(project: string, { name }: InstanceRef, creation: string): Promise<VolumePlace | undefined> {
    const { api } = this.engine;
    for (const pool of await poolNames(api)) {
      const place = { pool, project, name: dataVolumeName(name) };
      if ((await findVolume(api, place))?.config[KEY.creation] === creation) return place;
    }
    return undefined;
  }

  private async copyOf(ref: InstanceRef, { name }: InstanceRef, key?: OperationKey): Promise<ContainerCopy> {
    const source = await this.find(ref);
    const volume = await ownVolume(this.engine.api, source);
    return { source, volume, name, creation: key?.id ?? randomUUID() };
  }

  private async planOf({ source, volume, name }: ContainerCopy): Promise<Plan> {
    const { api, finder } = this.engine;
    const { project } = source;
    const place = volume && { ...volume, name: dataVolumeName(name) };
    const refusals: Refusal[] = nameRefusals(name);
    if (await finder.read({ project, name })) {
      refusals.push(taken(`An instance ${name} already exists in the project ${project}.`));
    } else if (place && (await findVolume(api, place))) {
      refusals.push(taken(`A volume ${place.name} already exists in the storage pool ${place.pool}.`));
    }
    const steps = [
      ...(place
        ? [{ name: 'volume', detail: `${place.name} in the storage pool ${place.pool}, a copy of ${DATA_PATH}.` }]
        : []),
      { name: 'create', detail: `Container ${name}, stopped, a copy of ${source.name}.` },
    ];
    const warnings = [
      ...(volume && !isStopped(source)
        ? [
            `${source.name} runs: ${DATA_PATH} and the root are copied one after the other, so that a file that is written meanwhile may be in one of them only.`,
          ]
        : []),
      ...otherDisks(source, volume && DATA_DEVICE).map(
        (disk) => `The disk ${disk.name} at ${disk.path} is not copied: both containers use the same.`,
      ),
      ...cardsWithAddresses(source).map(
        (card) => `${card} of the clone does not get the fixed addresses of the source.`,
      ),
      ...(isProtected(source) ? [`The clone is not protected from deletion, as ${source.name} is.`] : []),
    ];
    return buildPlan(steps, { refusals, warnings });
  }
}
