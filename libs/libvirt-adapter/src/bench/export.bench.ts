// Compares the export of a disk with the compressor and the converter alone on the same disk. Started by
// tools/bench/export.bench.mjs, which reads the figures from standard output.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import { SystemClock, type ExportFormat, type InstanceRef } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { parseDomainState } from '../connection/domain-state.js';
import { LibvirtExport } from '../export/libvirt-export.js';

const run = promisify(execFile);
const MIB = 1024 ** 2;
/** The figure to meet is for 4 GiB. */
const DISK_BYTES = Number(process.env['HEADGATE_BENCH_DISK_MIB'] ?? 4096) * MIB;
const CONTENT_BYTES = DISK_BYTES / 8;
const ROUNDS = 2;
const SAMPLE_MS = 50;

const folder = await mkdtemp(join(tmpdir(), 'hgtest-bench-'));
const [raw, disk] = [join(folder, 'disk.raw'), join(folder, 'disk.qcow2')];

/** Half of the content looks like text, a quarter is random, and the rest of the disk is empty. */
async function makeDisk(): Promise<void> {
  const file = await open(raw, 'w');
  for (let at = 0; at < CONTENT_BYTES; at += MIB) {
    const lines = Array.from({ length: MIB / 64 }, (_none, i) =>
      createHash('md5')
        .update(`${at} ${i % 512}`)
        .digest('hex'),
    );
    const data = at % (4 * MIB) === 0 ? randomBytes(MIB) : Buffer.from(lines.join('\n'));
    await file.write(data, 0, Math.min(MIB, data.length), at);
  }
  await file.truncate(DISK_BYTES);
  await file.close();
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, disk]);
}

const xml = `<domain><name>web</name><uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid><memory>1</memory><vcpu>1</vcpu>
  <os><type arch='x86_64'>hvm</type></os><devices><disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
  <source file='${disk}'/><target dev='vda' bus='virtio'/></disk></devices></domain>`;
const connection = {
  uri: 'qemu:///system',
  domains: {
    lookUp: async () => ({ uuid: 'uuid-1', name: 'web' }),
    inspect: async () => ({ xml, state: parseDomainState('shut off (shutdown)'), isPersistent: true }),
  },
} as unknown as LibvirtConnection;
const exports = new LibvirtExport({
  connection,
  finder: new DomainFinder('bench', connection),
  clock: new SystemClock(),
  createTemporaryFolder: () => mkdtemp(join(folder, 'work-')),
});
const ref: InstanceRef = { kind: 'vm', context: 'bench', namespace: 'local', name: 'web' };

const discard = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
const openExport = (format: ExportFormat): Promise<Readable> => exports.open(ref, format, new AbortController().signal);

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The growth of this process while it works, at its highest. */
async function peakBytes(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), SAMPLE_MS);
  await work();
  clearInterval(timer);
  return peak - before;
}

try {
  await makeDisk();
  const compressor = (): Promise<void> =>
    pipeline(
      createReadStream(raw, { highWaterMark: MIB }),
      createGzip({ level: constants.Z_BEST_SPEED, chunkSize: MIB / 4 }),
      discard(),
    );
  const exported = async (): Promise<void> => pipeline(await openExport('raw.gz'), discard());
  const converter = (): Promise<unknown> =>
    run('qemu-img', ['convert', '-c', '-f', 'qcow2', '-O', 'qcow2', disk, join(folder, 'alone.qcow2')]);
  const converted = async (): Promise<void> => pipeline(await openExport('qcow2'), discard());
  const growthBytes = await peakBytes(exported);
  const best = { compressor: Infinity, exported: Infinity, converter: Infinity, converted: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    best.compressor = Math.min(best.compressor, await time(compressor));
    best.exported = Math.min(best.exported, await time(exported));
    best.converter = Math.min(best.converter, await time(converter));
    best.converted = Math.min(best.converted, await time(converted));
  }
  process.stdout.write(`${JSON.stringify({ diskMib: DISK_BYTES / MIB, growthMib: growthBytes / MIB, ...best })}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
