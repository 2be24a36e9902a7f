// Backups into a repository of restic's format, compared with QEMU's compressor, restic itself and a plain copy. Run
// alone: npm run bench -- repository
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { measure } from './libvirt/measure.mjs';

const MIN_BACKUP_RATIO = 0.7;
const MIN_RESTORE_RATIO = 0.8;
const MAX_GROWTH_MIB = 300;

export default async function run() {
  const name = 'repository';
  if (spawnSync('qemu-img', ['--version']).status !== 0) {
    return { name, rows: [{ what: 'skipped: qemu-img is not installed', value: 0, unit: '' }] };
  }
  const figures = measure('repository.bench', { adapter: 'restic-repository' });
  const { diskMib, converter, backup, restic, unchanged, copy, restore, growthMib } = figures;
  const speed = (/** @type {number} */ ms) => (diskMib / ms) * 1000;
  const comparison = (/** @type {number} */ alone, /** @type {number} */ ours, /** @type {number} */ least) => ({
    ratio: alone / ours,
    target: `at least ${least}`,
    ok: alone / ours >= least,
  });
  return {
    name,
    rows: [
      { what: `qemu-img alone, zstd, on a disk with ${diskMib} MiB`, value: speed(converter), unit: 'MiB/s' },
      ...(restic === undefined ? [] : [{ what: 'restic alone', value: speed(restic), unit: 'MiB/s' }]),
      {
        what: 'first backup',
        value: speed(backup),
        unit: 'MiB/s',
        ...comparison(converter, backup, MIN_BACKUP_RATIO),
      },
      { what: 'backup of the same disk, all of it read again', value: speed(unchanged), unit: 'MiB/s' },
      { what: 'plain sparse copy', value: speed(copy), unit: 'MiB/s' },
      { what: 'restore', value: speed(restore), unit: 'MiB/s', ...comparison(copy, restore, MIN_RESTORE_RATIO) },
      {
        what: 'growth of the process',
        value: growthMib,
        unit: 'MiB',
        target: `under ${MAX_GROWTH_MIB}`,
        ok: growthMib < MAX_GROWTH_MIB,
      },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
