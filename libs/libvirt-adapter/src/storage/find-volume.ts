import { DomainError } from '@headgate/domain-contracts';
import { attribute, element, parseXml, text } from '../domain-xml/xml.js';
import type { Virsh } from '../virsh/virsh.js';
import { volumeNames } from './storage-pool.js';

export interface ExistingVolume {
  readonly path: string;
  /** `qcow2`, `raw`, … */
  readonly format: string;
  readonly bytes: number;
}

/**
 * Finds a volume by name in libvirt's active pools; the file extension may be omitted.
 * @param ownPool the preferred pool
 * @throws DomainError VOLUME_NOT_FOUND, CONFLICT when several pools have a volume of that name
 */
export async function findVolume(virsh: Virsh, claim: string, ownPool: string): Promise<ExistingVolume> {
  const pools = lines(await virsh.run(['pool-list', '--name']));
  const tables = await virsh.batch(pools.map((pool) => ['vol-list', pool]));
  const found = pools.flatMap((pool, i) =>
    volumeNames(tables[i] ?? '')
      .filter((name) => name === claim || name.replace(/\.(qcow2|img|raw)$/, '') === claim)
      .map((name) => ({ pool, name })),
  );
  const exact = found.filter(({ name }) => name === claim);
  const own = (exact.length > 0 ? exact : found).filter(({ pool }) => pool === ownPool);
  const candidates = own.length > 0 ? own : exact.length > 0 ? exact : found;
  const [volume, other] = candidates;
  if (!volume) throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${claim} in a storage pool of libvirt.`);
  if (other) {
    const locations = candidates.map(({ pool, name }) => `${pool}/${name}`).join(', ');
    throw new DomainError('CONFLICT', `Several volumes are named ${claim} (${locations}): rename one.`);
  }
  return describeVolume(await virsh.run(['vol-dumpxml', volume.name, '--pool', volume.pool]));
}

function describeVolume(xml: string): ExistingVolume {
  const volume = element(parseXml(xml), 'volume');
  const target = element(volume, 'target');
  return {
    path: text(target, 'path') ?? '',
    format: attribute(element(target, 'format'), 'type') ?? 'raw',
    bytes: Number(text(volume, 'capacity') ?? 0),
  };
}

const lines = (output: string): string[] =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
