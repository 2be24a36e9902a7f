import type { BackendKind } from '@headgate/domain-contracts';
import { addedLibvirt } from './added-libvirt.js';
import { discoverLibvirt } from './host/discover-libvirt.js';
import { LibvirtSettings } from './libvirt-settings.js';
import { LIBVIRT_TRAITS } from './libvirt-traits.js';

/** The libvirt of this machine. */
const LOCAL_URI = 'qemu:///system';

/** A host that runs libvirt. */
export const libvirtKind: BackendKind<LibvirtSettings> = {
  traits: LIBVIRT_TRAITS,
  settings: LibvirtSettings,
  open: async ({ settings, tinyGuest, readerGuest, accelerator, ...deps }) => {
    const { context, dataDir, clock, log, peers, importAllow } = deps;
    // The adapter is loaded only here, so that a service without libvirt starts faster and stays smaller.
    const { LibvirtBackend } = await import('./libvirt-backend.js');
    const backend = LibvirtBackend.open({
      context,
      dataDir,
      clock,
      log,
      peers,
      importAllow,
      uri: settings.uri ?? LOCAL_URI,
      migrationAddress: settings.migrationAddress,
      migrationTransport: settings.migrationTransport,
      tinyGuest: tinyGuest === undefined ? undefined : async () => tinyGuest,
      readerGuest,
      accelerator: accelerator === undefined ? undefined : async () => accelerator,
    });
    return { backend };
  },
  discover: () => discoverLibvirt(),
  // The URI of the configuration may have a password and a query.
  describe: ({ uri = LOCAL_URI }) => ({ uri: uri.replace(/\?.*$/, '').replace(/:\/\/([^/@:]*):[^/@]*@/, '://$1@') }),
  added: addedLibvirt,
};
