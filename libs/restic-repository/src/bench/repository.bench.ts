// Compares a backup with the compressor of QEMU, and a restore with a plain copy, on the same disk. Started by
// tools/bench/repository.bench.mjs, which reads the figures from standard output.
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { restoreFile } from '../reading/restore-file.js';
import { ResticRepository } from '../repository.js';
import { DirectoryTarget } from '../target/directory-target.js';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const DISK_BYTES = Number(process.env['HEADGATE_BENCH_DISK_MIB'] ?? 512) * MIB;
const ROUNDS = 2;
const SAMPLE_MS = 50;
const PASSWORD = 'bench';

const folder = await mkdtemp(join(process.env['HEADGATE_BENCH_FOLDER'] ?? tmpdir(), 'hgtest-bench-'));
const disk = join(folder, 'disk.raw');

/** A quarter is empty, a quarter is random, and the rest is a program. */
async function makeDisk(): Promise<void> {
  const [program, file] = [await open(process.execPath), await open(disk, 'w')];
  const { size } = await program.stat();
  const code = Buffer.alloc(MIB);
  for (let at = 0; at < DISK_BYTES; at += MIB) {
    const kind = (at / MIB) % 4;
    if (kind === 0) continue;
    // Other bytes in each block, so that none is a duplicate.
    await program.read(code, 0, MIB, (at * 7919) % (size - MIB));
    code.writeDoubleLE(at, 0);
    await file.write(kind === 1 ? randomBytes(MIB) : code, 0, MIB, at);
  }
  await file.truncate(DISK_BYTES);
  await Promise.all([program.close(), file.close()]);
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The best of some rounds, taken in turn, because other work on the machine only ever slows them down. */
async function best(...works: (() => Promise<unknown>)[]): Promise<number[]> {
  const times = works.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, work] of works.entries()) times[at] = Math.min(times[at] ?? Infinity, await time(work));
  }
  return times;
}

let peak = 0;
const before = process.memoryUsage.rss();
const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss() - before)), SAMPLE_MS);

async function backUp(parent?: string): Promise<{ folder: string; id: string }> {
  const at = parent ?? (await mkdtemp(join(folder, 'repository-')));
  const target = new DirectoryTarget(at);
  const repository = await (parent === undefined
    ? ResticRepository.create(target, PASSWORD)
    : ResticRepository.open(target, PASSWORD));
  const file = await open(disk);
  const { id } = await repository.backup(
    { hostname: 'bench', paths: ['/disk'], tags: [], time: new Date() },
    async (writer) => {
      await writer.file('disk', {
        size: DISK_BYTES,
        read: async (offset, length) => {
          const bytes = Buffer.allocUnsafeSlow(length);
          await file.read(bytes, 0, length, offset);
          return bytes;
        },
      });
    },
  );
  await file.close();
  return { folder: at, id };
}

const hasRestic = spawnSync('restic', ['version']).status === 0;

async function backUpWithRestic(): Promise<void> {
  const at = await mkdtemp(join(folder, 'restic-'));
  const env = { PATH: process.env['PATH'], RESTIC_PASSWORD: PASSWORD };
  await run('restic', ['--repo', at, '--no-cache', 'init'], { env });
  await run('restic', ['--repo', at, '--no-cache', 'backup', disk], { env });
}

try {
  await makeDisk();
  const compressed = join(folder, 'disk.qcow2');
  const convert = ['convert', '-f', 'raw', '-O', 'qcow2', '-c', '-o', 'compression_type=zstd', disk, compressed];
  const [converter = 0, backup = 0, restic = 0] = await best(
    // Both end with the data on the disk.
    () => run('qemu-img', convert).then(() => run('sync', [compressed])),
    () => backUp(),
    () => (hasRestic ? backUpWithRestic() : Promise.resolve()),
  );
  const first = await backUp();
  const unchanged = await time(() => backUp(first.folder));
  const repository = await ResticRepository.open(new DirectoryTarget(first.folder), PASSWORD);
  const restored = join(folder, 'restored.raw');
  const [copy = 0, restore = 0] = await best(
    () => run('dd', [`if=${disk}`, `of=${join(folder, 'copy.raw')}`, 'bs=1M', 'conv=sparse,fsync', 'status=none']),
    async () => {
      await rm(restored, { force: true });
      await restoreFile(await repository.openFile(first.id, 'disk'), restored);
    },
  );
  await run('cmp', [disk, restored]);
  clearInterval(sampler);
  const figures = { diskMib: DISK_BYTES / MIB, converter, backup, unchanged, copy, restore, growthMib: peak / MIB };
  process.stdout.write(`${JSON.stringify({ ...figures, restic: hasRestic ? restic : undefined })}\n`);
} finally {
  clearInterval(sampler);
  await rm(folder, { recursive: true, force: true });
}
