import { DISK_FILE, KEYS_FILE, serveDiskBuilder } from '@headgate/plugin-sdk';

/**
 * Container images that can be installed have this label. Source: https://bootc-dev.github.io/bootc/bootc-images.html
 */
const LABELS = { 'containers.bootc': '1' };

// Source: https://bootc-dev.github.io/bootc/man/bootc-install-to-disk.8.html. A generic image gets every boot loader,
// and no firmware entry of the machine that builds it. Not every image configures a file system, so the plugin chooses
// one. Without podman's storage, bootc needs the address of its own image, and the one for updates. The disk of an
// interrupted pod is written again from the start.
serveDiskBuilder({
  name: 'bootc',
  version: '1.1.0',
  planDisk: ({ image, hasAuthorizedKeys, isBlockDevice, imageSource }) => ({
    command: [
      ...['bootc', 'install', 'to-disk', '--generic-image', ...(isBlockDevice ? [] : ['--via-loopback'])],
      ...['--filesystem', 'xfs'],
      ...(imageSource === 'registry'
        ? ['--wipe', '--source-imgref', `docker://${image}`, '--target-imgref', image]
        : []),
      ...(hasAuthorizedKeys ? ['--root-ssh-authorized-keys', KEYS_FILE] : []),
      DISK_FILE,
    ],
    permissions: [
      ...(['privileged-container', 'host-processes', 'host-devices'] as const),
      imageSource === 'registry' ? 'network' : 'image-store',
    ],
    labels: LABELS,
  }),
});
