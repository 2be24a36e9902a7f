import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lastLine, runCommand } from '../local/run-command.mjs';

/**
 * Packages of Fedora, downloaded with dnf and unpacked with rpm2cpio and cpio; nothing is installed.
 * @param {{ folder: string, log: (line: string) => void, run?: import('../local/run-command.mjs').RunCommand }} options
 * @returns {import('./package-source.mjs').PackageSource}
 */
export function dnfPackages({ folder, log, run = runCommand }) {
  return {
    async unpack(names, target) {
      mkdirSync(target, { recursive: true });
      log(`  downloading ${names.join(', ')} …`);
      const part = join(folder, names.join('+'));
      const result = await run(
        'dnf',
        ['download', '-y', '--arch', 'x86_64', '--arch', 'noarch', '--destdir', part, ...names],
        {
          timeoutMs: 10 * 60_000,
        },
      );
      if (result.code !== 0) {
        throw new Error(
          `${names.join(', ')} could not be downloaded (${lastLine(result)}): check the network connection, and that dnf-plugins-core is installed.`,
        );
      }
      const files = readdirSync(part)
        .filter((file) => file.endsWith('.rpm'))
        .sort();
      for (const file of files) await unpackRpm(join(part, file), target);
      return files;
    },
    async dependenciesOf(names) {
      const result = await run(
        'dnf',
        ['repoquery', '--requires', '--resolve', '--recursive', '--qf', '%{name}\n', ...names],
        {
          timeoutMs: 120_000,
        },
      );
      return [...new Set(result.stdout.split('\n').filter((name) => /^[a-z0-9]\S*$/i.test(name)))];
    },
    kernelPackages: async () => ['kernel-core', 'kernel-modules-core'],
    packages: {
      busybox: ['busybox'],
      agent: ['qemu-guest-agent'],
      ssh: ['dropbear'],
      boot: ['syslinux', 'syslinux-nonlinux', 'mtools'],
      reader: ['perl-interpreter', 'ntfs-3g', 'lvm2'],
    },
  };
}

/**
 * @param {string} file
 * @param {string} target
 * @returns {Promise<void>}
 */
function unpackRpm(file, target) {
  return new Promise((resolve, reject) => {
    const reader = spawn('rpm2cpio', [file], { stdio: ['ignore', 'pipe', 'ignore'] });
    const writer = spawn('cpio', ['-idm', '--quiet', '--no-absolute-filenames'], {
      cwd: target,
      stdio: [reader.stdout, 'ignore', 'ignore'],
    });
    reader.once('error', reject);
    writer.once('error', reject);
    writer.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${file} could not be unpacked.`))));
  });
}
