import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLine, runCommand } from '../local/run-command.mjs';

/** @typedef {import('./package-source.mjs').PackageSource} PackageSource */

/** In order of preference: kernels for virtual machines are small and boot quickly. */
const KERNELS = ['linux-image-cloud-amd64', 'linux-image-virtual', 'linux-image-amd64', 'linux-image-generic'];

/**
 * Packages of Debian and Ubuntu, downloaded with apt and unpacked with dpkg-deb; nothing is installed.
 * @param {{ folder: string, log: (line: string) => void, run?: import('../local/run-command.mjs').RunCommand }} options
 *   `folder` caches the downloads
 * @returns {PackageSource}
 */
export function aptPackages({ folder, log, run = runCommand }) {
  /** @param {string[]} names */
  const resolveAll = async (names) => {
    const result = await run('apt-get', ['download', '--print-uris', ...names], { timeoutMs: 60_000 });
    const lines = [...result.stdout.matchAll(/^'[^']*' (\S+) (\d+) SHA(256|512):([0-9a-f]+)$/gm)];
    if (result.code !== 0 || lines.length < names.length) {
      throw new Error(`apt does not know all of ${names.join(', ')}: run \`sudo apt-get update\`, then try again.`);
    }
    return lines.map(([, file, size, bits, sum]) => ({
      file: String(file),
      size: Number(size),
      hash: `sha${bits}`,
      sum,
    }));
  };

  /**
   * Downloads packages that are not cached, in one call of apt, because each call takes seconds.
   * @param {string[]} names
   */
  const fetchAll = async (names) => {
    const wanted = await resolveAll(names);
    const missing = wanted.filter(({ file, hash, sum }) => {
      const cached = join(folder, file);
      return !existsSync(cached) || digest(cached, hash) !== sum;
    });
    if (missing.length > 0) await download(missing);
    return wanted.map(({ file }) => file);
  };

  /** @param {{ file: string, size: number }[]} missing */
  const download = async (missing) => {
    mkdirSync(folder, { recursive: true });
    const names = missing.map(({ file }) => /** @type {string} */ (file.split('_')[0]));
    const megabytes = missing.reduce((sum, { size }) => sum + size, 0) / 1e6;
    log(`  downloading ${names.join(', ')} (${megabytes.toFixed(1)} MB) …`);
    const temporary = mkdtempSync(join(folder, 'part-'));
    try {
      // As root, apt downloads as the user _apt, who may not write to this folder.
      const result = await run('apt-get', ['-o', 'APT::Sandbox::User=root', '-q', 'download', ...names], {
        cwd: temporary,
        timeoutMs: 10 * 60_000,
      });
      if (result.code !== 0) {
        throw new Error(
          `${names.join(', ')} could not be downloaded (${lastLine(result)}): check the network connection.`,
        );
      }
      for (const { file } of missing) renameSync(join(temporary, file), join(folder, file));
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  };

  return {
    async unpack(names, target) {
      const files = await fetchAll(names);
      for (const file of files) {
        const result = await run('dpkg-deb', ['-x', join(folder, file), target], { timeoutMs: 120_000 });
        if (result.code !== 0) throw new Error(`${file} could not be unpacked (${lastLine(result)}).`);
      }
      return files;
    },
    async dependenciesOf(names) {
      const options = [
        '--recurse',
        '--no-recommends',
        '--no-suggests',
        '--no-conflicts',
        '--no-breaks',
        '--no-replaces',
        '--no-enhances',
      ];
      const result = await run('apt-cache', ['depends', ...options, ...names], { timeoutMs: 60_000 });
      const libraries = [...result.stdout.matchAll(/^lib[a-z0-9.+-]+$/gm)].map(([name]) => name);
      return [...new Set(libraries)].filter((name) => !name.includes('perl'));
    },
    async kernelPackages() {
      for (const name of KERNELS) {
        const result = await run('apt-cache', ['depends', '--recurse', '--important', name], { timeoutMs: 60_000 });
        const images = [...result.stdout.matchAll(/^linux-(?:image|modules)-\d\S*$/gm)].map(([real]) => real);
        const real = [...new Set(images)].filter((image) => !/unsigned|-dbg$/.test(image));
        if (result.code === 0 && real.length > 0) return real;
      }
      throw new Error('apt has no kernel package: run `sudo apt-get update`, then try again.');
    },
    packages: {
      busybox: ['busybox-static'],
      agent: ['qemu-guest-agent'],
      ssh: ['dropbear-bin'],
      boot: ['syslinux', 'syslinux-common', 'mtools'],
      reader: ['perl-base', 'ntfs-3g', 'lvm2'],
    },
  };
}

/**
 * @param {string} file
 * @param {string} hash
 */
const digest = (file, hash) => createHash(hash).update(readFileSync(file)).digest('hex');
