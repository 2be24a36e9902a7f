// Compares the copy of a disk, as a move makes it, with its two halves alone. Started by tools/bench/moves.bench.mjs,
// which reads the figures from standard output.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { blocksOf, copyDisk, hashesOf, SystemClock, type DiskWriter } from '@headgate/domain-contracts';
import { NbdServer } from '../export/nbd-server.js';
import { copyImage } from '../moves/copy-image.js';
import { openDisk } from '../moves/libvirt-disk-source.js';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const DISK_BYTES = Number(process.env['HEADGATE_BENCH_DISK_MIB'] ?? 1024) * MIB;
/** As large as those of `qemu-img convert`. */
const REQUEST_BYTES = 2 * MIB;
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

async function makeBlank(): Promise<void> {
  await rm(copy, { force: true });
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', copy, String(DISK_BYTES)]);
}

async function openCopy(): Promise<DiskWriter> {
  await makeBlank();
  const work = await deps.createTemporaryFolder();
  const server = NbdServer.start({ path: copy, format: 'qcow2' }, work, { access: 'write' });
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

/** The same copy by QEMU's own program, between two servers of the same kind. */
async function reference(): Promise<void> {
  await makeBlank();
  const folders = [await deps.createTemporaryFolder(), await deps.createTemporaryFolder()] as const;
  const servers = [
    NbdServer.start({ path: disk, format: 'qcow2' }, folders[0]),
    NbdServer.start({ path: copy, format: 'qcow2' }, folders[1], { access: 'write' }),
  ];
  for (const one of folders) while (!existsSync(join(one, 'nbd.sock'))) await clock.delay(5);
  const [from, to] = folders.map((one) => `nbd+unix:///disk?socket=${join(one, 'nbd.sock')}`) as [string, string];
  await run('qemu-img', ['convert', '-n', '-f', 'raw', '-O', 'raw', from, to]);
  await Promise.all(servers.map((server) => server.whenEnded()));
  for (const one of folders) await rm(one, { recursive: true });
}

/** Between two contexts whose disks are on this machine. */
async function fill(): Promise<void> {
  await makeBlank();
  const used = await copyImage({
    from: { path: disk, format: 'qcow2' },
    to: { path: copy, format: 'qcow2' },
    sizeBytes: DISK_BYTES,
    report: () => undefined,
    signal: never,
  });
  if (used === undefined) throw new Error('qemu-img could not be run.');
}

/** One half alone by QEMU's own program, as fast as it can. */
async function half(args: readonly string[], file: string): Promise<void> {
  const requests = String(DISK_BYTES / REQUEST_BYTES);
  await run('qemu-img', [
    'bench',
    '-q',
    '-f',
    'qcow2',
    '-s',
    String(REQUEST_BYTES),
    '-d',
    '8',
    '-c',
    requests,
    ...args,
    file,
  ]);
}

async function writeFileAlone(): Promise<void> {
  await makeBlank();
  await half(['-w', '--pattern=65', '-t', 'writeback'], copy);
  const file = await open(copy, 'r+');
  await file.sync();
  await file.close();
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
  const works = {
    read,
    write,
    move,
    reference,
    fill,
    hash,
    fileWrite: writeFileAlone,
    fileRead: () => half(['-t', 'writeback'], disk),
  };
  const best: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of Object.entries(works)) best[name] = Math.min(best[name] ?? Infinity, await time(work));
  process.stdout.write(`${JSON.stringify({ diskMib: DISK_BYTES / MIB, ...best })}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
