import { join } from 'node:path';
import { LibvirtBackend } from '@headgate/libvirt-adapter';
import type { Settings } from '../config/load-config.js';
import type { BackendDeps, OpenedBackend } from './backend-factory.js';

export const LOCAL_URI = 'qemu:///system';

/** A host that runs libvirt. */
export async function openLibvirt({
  section,
  options,
  settings,
  clock,
  peers,
  log,
}: BackendDeps): Promise<OpenedBackend> {
  const { tinyGuest, accelerator } = options;
  const backend = await LibvirtBackend.open({
    context: section.name,
    uri: section.uri ?? LOCAL_URI,
    dataDir: join(settings.dataDir, 'fetch', encodeURIComponent(section.name)),
    // The operator has chosen the image registry, wherever it is.
    importAllow: [...settings.importAllow, ...registryOf(settings)],
    clock,
    log,
    peers,
    migrationAddress: section.migrationAddress,
    migrationTransport: section.migrationTransport,
    tinyGuest: tinyGuest === undefined ? undefined : async () => tinyGuest,
    accelerator: accelerator === undefined ? undefined : async () => accelerator,
  });
  return { backend };
}

/** The image registry with its port. */
export function registryOf({ imageRegistry }: Settings): string[] {
  const host = imageRegistry?.split('/')[0];
  if (host === undefined) return [];
  return [/:\d+$/.test(host) ? host : `${host}:443`];
}
