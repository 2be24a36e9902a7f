// Measures libvirt over its RPC protocol against virsh, on a private libvirtd of its own. Started by
// tools/bench/libvirt.bench.mjs, which reads the figures from standard output.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { openLibvirt, type RpcConnection } from '@headgate/libvirt-rpc';
import { DomainFinder } from '../domains/domain-finder.js';
import { DomainReader } from '../domains/domain-reader.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { StoragePool } from '../storage/storage-pool.js';
import { foreignDomainXml } from '../testing/domain-xml.js';
import { PrivateLibvirtd } from '@headgate/testing';
import { VirshConnection } from '../virsh/virsh-connection.js';

const run = promisify(execFile);
const DOMAINS = 1000;
const QUESTIONS = { rpc: 500, virsh: 40 };
const FIRST_LISTS = 5;
const LISTS = 9;
const OPERATIONS = 15;
const UPLOADS = 8;
const UPLOAD_BYTES = 256 * 1024 ** 2;
const GUEST: InstanceRef = { kind: 'vm', context: 'bench', namespace: 'local', name: 'hgtest-bench-0' };

/** Without the socket of a guest agent, whose path would be too long in a temporary folder. */
const domainXml = (name: string): string => foreignDomainXml({ name }).replace(/<channel[\s\S]*<\/channel>/, '');

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function medianOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await time(work));
  return median(times);
}

/** The reader keeps parsed XML, as it does in the service: the first list parses all of it. */
function lister(connection: LibvirtConnection): () => Promise<void> {
  const finder = new DomainFinder('bench', connection);
  const reader = new DomainReader(connection);
  return async () => {
    const snapshots = await reader.read(await finder.all());
    if (snapshots.length !== DOMAINS) throw new Error(`${snapshots.length} domains instead of ${DOMAINS}`);
  };
}

/** Opens connections that sum up the time between each call and its reply, by procedure. */
function measuredOpen(spent: Map<string, number>): typeof openLibvirt {
  return async (...args) => {
    const connection = await openLibvirt(...args);
    const call = connection.call.bind(connection) as RpcConnection['call'];
    connection.call = async (procedure, ...rest) => {
      const began = performance.now();
      try {
        return await call(procedure, ...rest);
      } finally {
        spent.set(procedure.name, (spent.get(procedure.name) ?? 0) + performance.now() - began);
      }
    };
    return connection;
  };
}

async function measureOperations(backend: LibvirtBackend, spent: Map<string, number>) {
  const own: Record<'start' | 'pause' | 'tag', number[]> = { start: [], pause: [], tag: [] };
  const libvirt: Record<'start' | 'pause' | 'tag', number[]> = { start: [], pause: [], tag: [] };
  const measure = async (kind: keyof typeof own, procedure: string, work: () => Promise<unknown>): Promise<void> => {
    spent.clear();
    const took = await time(work);
    const theirs = spent.get(procedure) ?? 0;
    libvirt[kind].push(theirs);
    own[kind].push(took - theirs);
  };
  const power = backend.require('power');
  for (let i = 0; i < OPERATIONS; i++) {
    await measure('start', 'DomainCreateWithFlags', () => power.apply(GUEST, 'start'));
    await measure('tag', 'DomainSetMetadata', () =>
      backend.require('provisioning').setTag(GUEST, 'bench', i % 2 === 0),
    );
    await measure('pause', 'DomainSuspend', () => power.apply(GUEST, 'pause'));
    await power.apply(GUEST, 'stop', { force: true });
  }
  const summary = (times: typeof own) => ({
    start: median(times.start),
    pause: median(times.pause),
    tag: median(times.tag),
  });
  return { own: summary(own), libvirt: summary(libvirt) };
}

/** The slowest pause while files are uploaded. */
async function pauseDuringUploads(backend: LibvirtBackend, connection: LibvirtConnection, folder: string) {
  const file = join(folder, 'upload');
  const handle = await open(file, 'w');
  await handle.truncate(UPLOAD_BYTES);
  await handle.close();
  // The daemon runs as another user.
  const path = join(folder, 'pool');
  await mkdir(path);
  await chmod(path, 0o777);
  const pool = new StoragePool(connection, 'bench', path);
  await pool.ensure();
  const power = backend.require('power');
  await power.apply(GUEST, 'start');
  let uploading = UPLOADS;
  const uploads = Array.from({ length: UPLOADS }, (_, i) =>
    pool.createFrom(`volume-${i}`, file).finally(() => uploading--),
  );
  const pauses: number[] = [];
  while (uploading > 0) {
    pauses.push(await time(() => power.apply(GUEST, 'pause')));
    await power.apply(GUEST, 'unpause');
  }
  await Promise.all(uploads);
  await power.apply(GUEST, 'stop', { force: true });
  return { slowest: Math.max(...pauses), count: pauses.length };
}

const folder = await mkdtemp(join(tmpdir(), 'hgtest-bench-'));
await chmod(folder, 0o777);
const daemon = await PrivateLibvirtd.create();
const spent = new Map<string, number>();
const connection = new RpcLibvirt({ uri: daemon.uri, open: measuredOpen(spent) });
const virsh = new VirshConnection({ uri: daemon.uri });
const backend = LibvirtBackend.open({
  context: GUEST.context,
  uri: daemon.uri,
  dataDir: folder,
  clock: new SystemClock(),
  connection,
});
try {
  await daemon.start();
  for (let i = 0; i < DOMAINS; i++) await connection.domains.define(domainXml(`hgtest-bench-${i}`));
  const question = {
    rpc: await medianOf(QUESTIONS.rpc, () => connection.host.hostname()),
    /** A process of virsh for the question, as in scripts. */
    virsh: await medianOf(QUESTIONS.virsh, () => run('virsh', ['--connect', daemon.uri, 'hostname'])),
    /** Through the service's fallback, whose virsh runs on. */
    fallback: await medianOf(QUESTIONS.rpc, () => virsh.host.hostname()),
  };
  const again = lister(connection);
  const lists = {
    first: await medianOf(FIRST_LISTS, () => lister(connection)()),
    again: await again().then(() => medianOf(LISTS, again)),
    virsh: await time(lister(virsh)),
  };
  const operations = await measureOperations(backend, spent);
  const pause = await pauseDuringUploads(backend, connection, folder);
  const figures = { domains: DOMAINS, uploads: UPLOADS, question, lists, operations, pause };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  await backend.close();
  await connection.close();
  await virsh.close();
  await daemon.close();
  await rm(folder, { recursive: true, force: true });
}
