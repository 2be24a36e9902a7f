// Compares the copy of a disk, as a move makes it, with its two halves alone. Started by tools/bench/moves.bench.mjs, which reads the figures
// from standard output.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { blocksOf, copyDisk, hashesOf, SystemClock, type DiskWriter } from '@headgate/domain-contracts';
import { NbdServer } from '../export/nbd-server.js';
import { openDisk } from '../moves/libvirt-disk-source.js';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const DISK_BYTES = Number(process.env['HEADGATE_BENCH_DISK_MIB'] ?? 1024) * MIB;
const ROUNDS = 3;

const folder = await mkdtemp(join(tmpdir(), 'hgtest-bench-'));
const [raw, disk, copy] = ['disk.raw', 'disk.qcow2', 'copy.qcow2'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const clock = new SystemClock();
const never = new AbortController().signal;
const deps = { clock, createTemporaryFolder: () => mkdtemp(join(folder, 'work-')) };
const block = randomBytes(MIB);

/** Without zeros: they would not be copied. */
async function makeDisk(): Promise<void> {
  const file = await open(raw, 'w');
  for (let at = 0; at < DISK_BYTES; at += MIB) await file.write(randomBytes(MIB), 0, MIB, at);
  await file.close();
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, disk]);
  await rm(raw);
}

async function openCopy(): Promise<DiskWriter> {
  await rm(copy, { force: true });
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', copy, String(DISK_BYTES)]);
  const work = await deps.createTemporaryFolder();
  const server = NbdServer.start({ path: copy, format: 'qcow2' }, work, 'write');
  const writer = await server.openWriter(clock, never);
  const end = async (): Promise<void> => {
    writer.close();
    await server.whenEnded();
    await rm(work, { recursive: true });
  };
  return {
    write: (offset, data) => writer.write(offset, data),
    finish: async () => {
      await writer.flush();
      await end();
    },
    abort: end,
  };
}

async function read(): Promise<void> {
  const content = await openDisk({ path: disk, format: 'qcow2' }, deps, never);
  for await (const one of blocksOf(content)) void one;
}

async function write(): Promise<void> {
  const writer = await openCopy();
  for (let at = 0; at < DISK_BYTES; at += MIB) await writer.write(at, block);
  await writer.finish();
}

async function move(): Promise<void> {
  await copyDisk(await openDisk({ path: disk, format: 'qcow2' }, deps, never), await openCopy(), () => undefined);
}

async function hash(): Promise<void> {
  for await (const one of hashesOf(await openDisk({ path: disk, format: 'qcow2' }, deps, never))) void one;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

try {
  await makeDisk();
  const best = { read: Infinity, write: Infinity, move: Infinity, hash: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    best.read = Math.min(best.read, await time(read));
    best.write = Math.min(best.write, await time(write));
    best.move = Math.min(best.move, await time(move));
    best.hash = Math.min(best.hash, await time(hash));
  }
  process.stdout.write(`${JSON.stringify({ diskMib: DISK_BYTES / MIB, ...best })}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
