// Measures how long the disk of a new VM, a snapshot and a clone take, on a private libvirtd. Started by
// tools/bench/storage.bench.mjs, which reads the figures from standard output.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock, type VmSpec } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { PrivateLibvirtd } from '@headgate/testing';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const CONTENT_BYTES = 256 * MIB;
const IMAGE_BYTES = 2048 * MIB;
const VMS = 9;

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Measures how long at least one call of a connection was in progress. */
class Stopwatch {
  private running = 0;
  private began = 0;
  private total = 0;

  /** The time since the last reading. */
  read(): number {
    const { total } = this;
    this.total = 0;
    return total;
  }

  over<T extends object>(inner: T): T {
    return new Proxy(inner, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value === 'object' && value !== null) return this.over(value);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const result: unknown = value.apply(target, args);
          return result instanceof Promise ? this.follow(result) : result;
        };
      },
    });
  }

  private follow<T>(call: Promise<T>): Promise<T> {
    if (this.running++ === 0) this.began = performance.now();
    return call.finally(() => {
      if (--this.running === 0) this.total += performance.now() - this.began;
    });
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A qcow2 image with content that can't be compressed. */
async function makeImage(folder: string): Promise<string> {
  const [raw, image] = [join(folder, 'content.raw'), join(folder, 'image.qcow2')];
  const file = await open(raw, 'w');
  for (let at = 0; at < CONTENT_BYTES; at += 16 * MIB) await file.write(randomBytes(16 * MIB), 0, 16 * MIB, at);
  await file.truncate(IMAGE_BYTES);
  await file.close();
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, image]);
  await rm(raw);
  return image;
}

async function allocatedBytes(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).blocks * 512));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

const folder = await mkdtemp(join(tmpdir(), 'hgtest-bench-'));
await chmod(folder, 0o755);
const poolPath = join(folder, 'pool');
await mkdir(poolPath);
// The daemon runs as another user.
await chmod(poolPath, 0o777);
const image = await makeImage(folder);
const server = createServer((_request, response) => {
  response.writeHead(200, { etag: '"1"' });
  createReadStream(image).pipe(response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const daemon = await PrivateLibvirtd.create();
const inLibvirt = new Stopwatch();
const connection: LibvirtConnection = inLibvirt.over(new RpcLibvirt({ uri: daemon.uri }));
const backend = LibvirtBackend.open({
  context: 'bench',
  uri: daemon.uri,
  connection,
  dataDir: folder,
  poolPath,
  clock: new SystemClock(),
  accelerator: () => Promise.resolve('tcg'),
  importAllow: ['127.0.0.1'],
});
try {
  await daemon.start();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image.qcow2`;
  let count = 0;
  const create = async (): Promise<void> => {
    const spec: VmSpec = {
      ref: { kind: 'vm', context: 'bench', namespace: 'local', name: `hgtest-bench-${count++}` },
      cpu: 1,
      memoryBytes: 256 * MIB,
      diskBytes: 4096 * MIB,
      source: { kind: 'import', url },
      start: false,
    };
    const { remaining } = await backend.require('provisioning').create(spec);
    await remaining?.({
      step: () => undefined,
      log: () => undefined,
      progress: () => undefined,
      signal: new AbortController().signal,
    });
  };
  const first = await time(create);
  const firstBytes = await allocatedBytes(poolPath);
  const cached: number[] = [];
  for (let i = 0; i < VMS; i++) cached.push(await time(create));
  const bytesPerVm = ((await allocatedBytes(poolPath)) - firstBytes) / VMS;
  const ref = { kind: 'vm', context: 'bench', namespace: 'local', name: 'hgtest-bench-1' } as const;
  const snapshots: number[] = [];
  const ownParts: number[] = [];
  for (let i = 0; i < VMS; i++) {
    inLibvirt.read();
    const taken = await time(() => backend.require('snapshots').create(ref, { name: `snapshot-${i}` }));
    snapshots.push(taken);
    ownParts.push(taken - inLibvirt.read());
  }
  const clones: number[] = [];
  for (let i = 0; i < VMS; i++) {
    const target = { ...ref, name: `hgtest-bench-clone-${i}` };
    clones.push(await time(() => backend.require('cloning').clone(ref, target)));
  }
  const bare = await time(() => run('cp', ['--reflink=never', image, join(folder, 'copy')]));
  const figures = {
    contentMib: CONTENT_BYTES / MIB,
    first,
    cached: median(cached),
    slowest: Math.max(...cached),
    copy: bare,
    bytesPerVm,
    snapshot: median(snapshots),
    snapshotOwnPart: median(ownParts),
    clone: median(clones),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  await backend.close();
  server.close();
  server.closeAllConnections();
  await daemon.close();
  await rm(folder, { recursive: true, force: true });
}
