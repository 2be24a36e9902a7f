// The history of the fleet: a million changes of 10,000 VMs on a disk, and a list as of a moment. Run alone:
// node tools/bench/history.bench.mjs (with the Node that the lockfile brings)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(import.meta.dirname, '../..');
const FLEET = 10_000;
const CHANGES = 1_000_000;
const MAX_DISK_MIB = 300;
const MAX_READ_MS = 200;

function measure(folder) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(import.meta.dirname, 'vm-service/vite.config.js');
  const args = ['build', '--ssr', 'src/bench/history.bench.ts', '--outDir', folder, '--logLevel', 'error'];
  const cwd = join(root, 'libs/history');
  execFileSync(process.execPath, [vite, ...args, '--config', config], { cwd, stdio: 'inherit' });
  const program = [join(folder, 'history.bench.js'), String(FLEET), String(CHANGES)];
  return JSON.parse(execFileSync(process.execPath, program, { encoding: 'utf8' }));
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const figures = measure(folder);
    const diskMib = figures.diskBytes / 1024 ** 2;
    return {
      name: 'history',
      rows: [
        {
          what: `${CHANGES} changes of ${FLEET} VMs in ${figures.files} files`,
          value: diskMib,
          unit: 'MiB of disk',
          target: `under ${MAX_DISK_MIB}`,
          ok: diskMib < MAX_DISK_MIB,
        },
        { what: 'a change that is alone in its second', value: figures.singleBytes, unit: 'bytes of disk' },
        { what: 'a change, recorded with 24 others', value: figures.changeMicroseconds, unit: 'µs of CPU' },
        {
          what: 'the pauses for other requests meanwhile (99.9%)',
          value: figures.pauseMs,
          unit: 'ms',
          ratio: figures.pauseMs / figures.plainPauseMs,
        },
        {
          what: 'the list as of a moment (median), compared with one file of JSON',
          value: figures.readMs,
          unit: 'ms',
          ratio: figures.readMs / figures.plainMs,
          target: `under ${MAX_READ_MS}`,
          ok: figures.readMs < MAX_READ_MS,
        },
        { what: 'the same', value: figures.readCpuMs, unit: 'ms of CPU' },
        { what: 'the longest of 30', value: figures.longestReadMs, unit: 'ms' },
        { what: 'all changes of one VM among them', value: figures.scanMs, unit: 'ms' },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
