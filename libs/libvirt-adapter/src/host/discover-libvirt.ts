import { access, constants } from 'node:fs/promises';
import type { DiscoveredEngine } from '@headgate/domain-contracts';
import type { LibvirtSettings } from '../libvirt-settings.js';

/** The sockets of the monolithic daemon and of the modular daemon for QEMU. */
const SOCKETS = ['/run/libvirt/libvirt-sock', '/run/libvirt/virtqemud-sock'];

/** This machine's libvirt, when one of its sockets is writable. */
export async function discoverLibvirt(
  sockets: readonly string[] = SOCKETS,
): Promise<DiscoveredEngine<LibvirtSettings> | undefined> {
  const results = await Promise.allSettled(sockets.map((socket) => access(socket, constants.W_OK)));
  const isHere = results.some(({ status }) => status === 'fulfilled');
  return isHere ? { context: 'local', description: 'libvirt on this machine' } : undefined;
}
