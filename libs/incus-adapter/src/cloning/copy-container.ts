import { DomainError, ServiceShutdown, type TaskReporter } from '@headgate/domain-contracts';
import type { Config, Device, Devices, InstanceObject } from '../api/incus-objects.js';
import { untilIdle, whenIdle } from '../api/when-idle.js';
import { isOwnKey, KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { markInstance, markOf } from '../engine/operation-mark.js';
import {
  assignVolume,
  copyVolume,
  DATA_DEVICE,
  dataVolumeName,
  type VolumePlace,
} from '../provisioning/data-volume.js';
import { rollBack, tryRollBack, type IncompleteContainer } from '../provisioning/roll-back.js';

export interface ContainerCopy {
  readonly source: InstanceObject;
  /** The volume that belongs to the source. */
  readonly volume?: VolumePlace;
  /** The name of the copy. */
  readonly name: string;
  /** A UUID, or the ID of a task. */
  readonly creation: string;
}

/** Belongs to one network card only. */
const ADDRESSES = new Set(['hwaddr', 'ipv4.address', 'ipv6.address']);
const PROTECTION = 'security.protection.delete';

/** Copies a container with its data volume. The copy is stopped. A failure leaves nothing behind. */
export async function copyContainer(engine: IncusEngine, copy: ContainerCopy, report: TaskReporter): Promise<void> {
  const { api, finder } = engine;
  const { source, volume, name, creation } = copy;
  const { project } = source;
  const target = { project, name };
  try {
    report.signal.throwIfAborted();
    if (volume) {
      report.step('volume');
      await copyVolume(api, volume, { name: dataVolumeName(name), creation });
    }
    report.signal.throwIfAborted();
    report.step('create');
    await whenIdle(api, source, () => api.send('POST', '/1.0/instances', { query: { project }, body: bodyOf(copy) }));
    const created = await finder.read(target);
    if (!created) throw new DomainError('CONFLICT', `The container ${name} was deleted while it was created.`);
    if (volume) await assignVolume(api, volumeOf(copy), created);
    await markInstance(api, created, '');
  } catch (error) {
    if (!(error instanceof ServiceShutdown)) await tryRollBack(engine, incompleteOf(copy));
    throw error;
  }
}

/**
 * Removes the objects of a copy that is not complete, once the server has ended its work on that. The source may be
 * gone.
 */
export async function removeCopy(engine: IncusEngine, incomplete: IncompleteContainer): Promise<void> {
  const { name, volume } = incomplete;
  await untilIdle(engine.api, volume.project, [name, dataVolumeName(name)]);
  await rollBack(engine, incomplete);
}

/** The mark of a copy until it is complete. */
export const copyMark = ({ name, creation }: Pick<ContainerCopy, 'name' | 'creation'>): string =>
  markOf('clone', name, creation);

const volumeOf = ({ source: { project }, volume, name }: ContainerCopy): VolumePlace => ({
  project,
  pool: volume?.pool ?? '',
  name: dataVolumeName(name),
});

export const incompleteOf = (copy: ContainerCopy): IncompleteContainer => ({
  name: copy.name,
  creation: copy.creation,
  volume: copy.volume ? volumeOf(copy) : { project: copy.source.project },
});

function bodyOf(copy: ContainerCopy): object {
  const { source, name } = copy;
  const { project, architecture, description, profiles } = source;
  return {
    name,
    type: 'container',
    architecture,
    description,
    profiles,
    // One that ran as an ephemeral container would be deleted when it stops.
    ephemeral: false,
    config: configOf(copy),
    devices: devicesOf(copy),
    source: { type: 'copy', source: source.name, project, instance_only: true },
  };
}

/** The server adds the other keys of the source, without those that identify it. */
function configOf(copy: ContainerCopy): Config {
  const { config, expanded_config: expanded } = copy.source;
  const left = Object.keys(config).filter((key) => isOwnKey(key) && key !== KEY.image);
  return {
    ...Object.fromEntries(left.map((key) => [key, ''])),
    [KEY.creation]: copy.creation,
    [KEY.operation]: copyMark(copy),
    // An incomplete copy has to be removed.
    ...(expanded[PROTECTION] === 'true' && { [PROTECTION]: 'false' }),
  };
}

const devicesOf = (copy: ContainerCopy): Devices =>
  Object.fromEntries(
    Object.entries(copy.source.devices).map(([name, device]): [string, Device] => {
      if (device.type === 'nic') return [name, withoutAddresses(device)];
      return name === DATA_DEVICE && copy.volume ? [name, { ...device, source: volumeOf(copy).name }] : [name, device];
    }),
  );

const withoutAddresses = (nic: Device): Device =>
  Object.fromEntries(Object.entries(nic).filter(([key]) => !ADDRESSES.has(key)));

/** The network cards whose addresses the copy does not get. */
export const cardsWithAddresses = ({ devices }: InstanceObject): string[] =>
  Object.entries(devices).flatMap(([name, device]) =>
    device.type === 'nic' && Object.keys(device).some((key) => ADDRESSES.has(key)) ? [name] : [],
  );

export const isProtected = ({ expanded_config: config }: InstanceObject): boolean => config[PROTECTION] === 'true';
