import { editDisks, SOURCE } from '../domain-xml/edit-disks.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { formatXml } from '../xml/xml.js';
import { editDomainXml } from '../snapshots/edit-domain-xml.js';

export interface CloneXmlEdit {
  readonly name: string;
  readonly uuid: string;
  readonly metadata: InstanceMetadata;
  /** The new files of disks, by target. */
  readonly disks: ReadonlyMap<string, string>;
  /** Targets of disks that the clone does not get. */
  readonly dropped: ReadonlySet<string>;
  /** Targets of drives whose disc stays with the source. */
  readonly ejected: ReadonlySet<string>;
  readonly nvram?: string;
  readonly serialLog?: string;
  /** Path of the cloud-init disc. */
  readonly seed?: string;
}

/**
 * The XML of a clone: that of its stopped source, with another identity. libvirt chooses the MAC addresses. Devices of
 * the host stay with the source, because only one VM can have them.
 */
export function cloneDomainXml(xml: string, source: { readonly uuid: string }, edit: CloneXmlEdit): string {
  const { name, uuid, metadata, disks, dropped, ejected, nvram, serialLog, seed } = edit;
  const identified = xml
    .replace(/<name>[^<]*<\/name>/, () => `<name>${name}</name>`)
    // Also in the paths of sockets and in the SMBIOS data.
    .replaceAll(source.uuid, uuid)
    .replace(/<genid>[^<]*<\/genid>/, '')
    .replace(/<interface\b[\s\S]*?<\/interface>/g, (nic) => nic.replace(/<mac\b[^>]*\/>/, ''));
  const renamed = editDisks(identified, (disk, target) => {
    if (dropped.has(target)) return '';
    return ejected.has(target) ? disk.replace(SOURCE, '') : disk;
  })
    .replace(/ *<hostdev\b[\s\S]*?<\/hostdev>\n?/g, '')
    .replace(/<log\b[^>]*\/>/g, () =>
      serialLog === undefined ? '' : formatXml({ log: { '@file': serialLog, '@append': 'on' } }),
    );
  const complete =
    seed === undefined ? renamed : renamed.replace(/<\/devices>/, (end) => seedElement(renamed, seed) + end);
  return editDomainXml(complete, { disks, metadata, ...(nvram !== undefined && { nvram }) });
}

/**
 * A disc on the bus of the first disk, for which every guest that boots has a driver. On SATA and SCSI it is a CD-ROM.
 */
function seedElement(xml: string, path: string): string {
  const targets = [...xml.matchAll(/<target\b[^>]*\bdev=['"]([a-z]+)['"][^>]*\bbus=['"](\w+)['"]/g)];
  const [, , bus = 'virtio'] = targets[0] ?? [];
  const prefix = bus === 'virtio' ? 'vd' : 'sd';
  const used = new Set(targets.map(([, dev]) => dev));
  const letter = [...'abcdefghijklmnopqrstuvwxyz'].find((one) => !used.has(prefix + one)) ?? 'z';
  return formatXml({
    disk: {
      '@type': 'file',
      '@device': bus === 'virtio' ? 'disk' : 'cdrom',
      driver: { '@name': 'qemu', '@type': 'raw' },
      source: { '@file': path },
      target: { '@dev': prefix + letter, '@bus': bus },
      readonly: '',
    },
  });
}
