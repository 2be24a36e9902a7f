import { attribute, element, type XmlElement } from '../xml/xml.js';

/**
 * An export of the disk of a running domain, recorded before it begins, so that the files of an interrupted one can be
 * removed.
 */
export interface BackupRecord {
  /** Identity of the service that began it. */
  readonly service: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Name of the volume in the service's pool that receives the copy. */
  readonly volume: string;
  /** libvirt's name of the new checkpoint. */
  readonly checkpoint?: string;
  /** Whether the file systems of the guest may be frozen, so that they have to be thawed. */
  readonly freezes?: true;
}

export function readBackup(instance: XmlElement, name: string): { backup?: BackupRecord } {
  const found = element(instance, name);
  const [service, volume, checkpoint] = ['service', 'volume', 'checkpoint'].map((field) => attribute(found, field));
  if (!found || service === undefined || volume === undefined) return {};
  const startedAt = attribute(found, 'started') ?? '';
  const freezes = attribute(found, 'freezes') === 'yes' && ({ freezes: true } as const);
  return { backup: { service, startedAt, volume, ...(checkpoint !== undefined && { checkpoint }), ...freezes } };
}

export const backupElement = ({ service, startedAt, volume, checkpoint, freezes }: BackupRecord): XmlElement => ({
  '@service': service,
  '@started': startedAt,
  '@volume': volume,
  ...(checkpoint !== undefined && { '@checkpoint': checkpoint }),
  ...(freezes && { '@freezes': 'yes' }),
});
