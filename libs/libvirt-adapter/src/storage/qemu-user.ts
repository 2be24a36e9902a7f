import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { VolumeOwner } from './storage-pool.js';
import { attribute, element, elements, parseXml, text } from '../xml/xml.js';

/** @returns undefined if QEMU runs as the user of libvirt itself, as in a session */
export async function qemuUser(connection: LibvirtConnection): Promise<VolumeOwner | undefined> {
  const host = element(element(parseXml(await connection.host.capabilities()), 'capabilities'), 'host');
  const labels = elements(host, 'secmodel')
    .filter((model) => text(model, 'model') === 'dac')
    .flatMap((model) => elements(model, 'baselabel'));
  const label = labels.find((one) => attribute(one, 'type') === 'kvm') ?? labels[0];
  const [, uid, gid] = /^\+(\d+):\+(\d+)$/.exec((label && text(label)) ?? '') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
