// Prints what of this machine decides which tests run: an input of the cached targets, so that a skipped suite is not
// taken from the cache once the machine has what it lacked.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const programs = [
  'qemu-system-x86_64',
  'qemu-img',
  'virsh',
  'libvirtd',
  'xorriso',
  'chromium',
  'kubectl',
  'redis-server',
  'valkey-server',
  'openssl',
  'nginx',
];

const isThere = (program) =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

console.log(
  [...programs.filter(isThere), process.getuid?.() === 0 ? 'root' : 'user', process.arch, process.version].join(' '),
);
