import { DISK_FILE, KEYS_FILE, serveDiskBuilder } from '@headgate/plugin-sdk';

/** Container images that can be installed have this label. Source: https://bootc-dev.github.io/bootc/bootc-images.html */
const LABELS = { 'containers.bootc': '1' };

// Source: https://bootc-dev.github.io/bootc/man/bootc-install-to-disk.8.html. A generic image gets every boot loader, and no
// firmware entry of the machine that builds it. Not every image configures a file system, so the plugin chooses one.
serveDiskBuilder({
  name: 'bootc',
  version: '1.0.0',
  planDisk: ({ hasAuthorizedKeys }) => ({
    command: [
      ...['bootc', 'install', 'to-disk', '--generic-image', '--via-loopback', '--filesystem', 'xfs'],
      ...(hasAuthorizedKeys ? ['--root-ssh-authorized-keys', KEYS_FILE] : []),
      DISK_FILE,
    ],
    permissions: ['privileged-container', 'host-processes', 'host-devices', 'image-store'],
    labels: LABELS,
  }),
});
