import { createHash } from 'node:crypto';
import {
  DomainError,
  refusal,
  type ContainerReading,
  type PortableProfile,
  type Refusal,
} from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Config, Device, Devices, InstanceObject } from '../api/incus-objects.js';
import { otherDisks } from '../engine/other-disks.js';
import { DATA_DEVICE, ownVolume, type VolumePlace } from '../provisioning/data-volume.js';

/** The parts of a container, and the kind of their archives. */
export const PARTS = { data: 'data', root: 'root' } as const;
export const BACKUP_FORMAT = 'incus-backup';

export interface ProfileObject {
  readonly name: string;
  readonly config: Config;
  readonly devices: Devices;
}

/** Devices that are on one machine only. */
const OF_THE_MACHINE = new Set(['gpu', 'usb', 'pci', 'unix-char', 'unix-block', 'unix-hotplug', 'infiniband', 'tpm']);

/** A container for a copy on another server. */
export async function describeContainer(api: IncusApi, instance: InstanceObject): Promise<ContainerReading> {
  const volume = await ownVolume(api, instance);
  const [profiles, used] = await Promise.all([profilesOf(api, instance), usedBytes(api, instance, volume)]);
  const cards = Object.values(instance.devices).filter(({ type }) => type === 'nic');
  const pool = rootPoolOf(instance);
  return {
    container: {
      format: BACKUP_FORMAT,
      arch: instance.architecture,
      // The server accepts a container only once its volume exists.
      parts: volume ? [PARTS.data, PARTS.root] : [PARTS.root],
      usedBytes: used,
      profiles,
      networks: [...new Set(cards.flatMap(networkOf))],
      ...(pool !== undefined && { storageClass: pool }),
    },
    refusals: refusalsOf(instance, volume),
    warnings: [],
    losses: [],
  };
}

const rootPoolOf = ({ expanded_devices: devices }: InstanceObject): string | undefined =>
  Object.values(devices).find(({ type, path }) => type === 'disk' && path === '/')?.pool;

/** The network of a card, or the interface of the machine that it uses. */
const networkOf = ({ network, parent }: Device): string[] => {
  const name = network ?? parent;
  return name === undefined || name === '' ? [] : [name];
};

function refusalsOf(instance: InstanceObject, volume: VolumePlace | undefined): Refusal[] {
  const { name, ephemeral, expanded_devices: devices } = instance;
  const refusals = otherDisks(instance, volume && DATA_DEVICE).map((disk) =>
    refusal(
      'NOT_SUPPORTED',
      `The disk ${disk.name} of ${name} at ${disk.path} is no volume of the service, and would stay behind.`,
      'Remove that device first, and move its content on its own.',
    ),
  );
  for (const [device, { type = '' }] of Object.entries(devices)) {
    if (!OF_THE_MACHINE.has(type)) continue;
    refusals.push(
      refusal(
        'NOT_SUPPORTED',
        `The device ${device} of ${name}, a ${type}, belongs to its machine.`,
        'Remove that device first.',
      ),
    );
  }
  if (ephemeral) {
    const reason = `${name} is ephemeral: the server deletes it when it stops.`;
    refusals.push(refusal('NOT_SUPPORTED', reason, 'Clone it, and move the clone.'));
  }
  return refusals;
}

/** The hashes are without the root disk: another pool is not another profile. */
async function profilesOf(api: IncusApi, { profiles, project }: InstanceObject): Promise<PortableProfile[]> {
  return Promise.all(
    profiles.map(async (name) => {
      const found = await api.get<ProfileObject>(`/1.0/profiles/${encodeURIComponent(name)}`, { project });
      return { name, hash: hashOf(found) };
    }),
  );
}

export function hashOf({ config, devices }: Pick<ProfileObject, 'config' | 'devices'>): string {
  const own = Object.entries(devices).filter(([, { type, path }]) => !(type === 'disk' && path === '/'));
  const text = JSON.stringify([sorted(config), own.map(([name, device]) => [name, sorted(device)]).sort()]);
  return createHash('sha256').update(text).digest('hex');
}

const sorted = (config: Config | Device): [string, string][] =>
  Object.entries(config).sort(([one], [other]) => (one < other ? -1 : 1));

/** Null when the pool does not measure its volumes. */
async function usedBytes(
  api: IncusApi,
  instance: InstanceObject,
  volume: VolumePlace | undefined,
): Promise<number | null> {
  const pool = rootPoolOf(instance);
  if (pool === undefined) return null;
  const root = { pool, project: instance.project, name: instance.name };
  const used = await Promise.all([usedBy(api, root, 'container'), ...(volume ? [usedBy(api, volume, 'custom')] : [])]);
  return used.reduce((sum, bytes) => (sum === null || bytes === null ? null : sum + bytes), 0);
}

async function usedBy(
  api: IncusApi,
  { pool, project, name }: VolumePlace,
  type: 'container' | 'custom',
): Promise<number | null> {
  const path = `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/${type}/${encodeURIComponent(name)}/state`;
  try {
    const { usage } = await api.get<{ readonly usage: { readonly used?: number } | null }>(path, { project });
    return usage?.used ?? null;
  } catch (error) {
    // An estimate is no reason to refuse a move.
    if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BACKEND_FORBIDDEN')) throw error;
    return null;
  }
}
