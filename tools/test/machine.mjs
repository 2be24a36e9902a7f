// Prints the properties of this machine that decide which tests run. It is an input of the cached targets, so that a
// skipped suite runs once its program is installed.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findPeer, PEERS } from '../peers/install.mjs';

const programs = [
  'qemu-system-x86_64',
  'qemu-img',
  'virsh',
  'libvirtd',
  'incusd',
  'incus',
  'lxd',
  'lxc',
  'xorriso',
  'swtpm_setup',
  'xmllint',
  'chromium-headless-shell',
  'chromium',
  'kubectl',
  'redis-server',
  'valkey-server',
  'openssl',
  'nginx',
  'haproxy',
  'caddy',
  'apache2',
  'promtool',
  'restic',
  'rsyslogd',
  'systemd-analyze',
];

const isInstalled = (program) =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/libexec/incus'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

console.log(
  [
    ...programs.filter(isInstalled),
    ...Object.keys(PEERS).map((name) => findPeer(name) ?? ''),
    process.getuid?.() === 0 ? 'root' : 'user',
    process.arch,
    process.version,
  ].join(' '),
);
