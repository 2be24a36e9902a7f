import { createCipheriv, randomUUID } from 'node:crypto';
import type { IngestSpec, InstanceRef, PortableVm } from '@headgate/domain-contracts';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const never = new AbortController().signal;
const SIZE = 80 * MIB;
const TIMEOUT_MS = 180_000;
/** Where the disk has data, more than 64 MiB of it; the rest is zeros. */
const FILLED: readonly (readonly [offset: number, bytes: number])[] = [
  [0, MIB],
  [6 * MIB - 3, 65 * MIB + 7],
  [SIZE - MIB - 1, MIB],
];

/** A prime, so that no part of the data is equal to another one at a round distance. */
const PERIOD = 10_007;
/** Noise takes 20 s to compress on its way. Repeated within the window of gzip, it takes two. */
const PATTERN = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16)).update(Buffer.alloc(PERIOD));

/** Bytes that are the same each time. */
const noise = (bytes: number): Buffer => Buffer.alloc(bytes, PATTERN);

const VM: PortableVm = {
  cpu: 1,
  memoryBytes: 512 * MIB,
  arch: 'x86_64',
  firmware: 'bios',
  tpm: false,
  autostart: false,
  tags: [],
  disks: [{ name: 'vda', sizeBytes: SIZE, usedBytes: null, bus: 'virtio' }],
  nics: [],
};

describe('a disk of more than 64 MiB', () => {
  const harnesses: SandboxHarness[] = [];

  afterEach(async () => {
    for (const harness of harnesses.splice(0)) await harness.close();
  });

  async function open(): Promise<SandboxHarness> {
    const harness = await SandboxHarness.open();
    harnesses.push(harness);
    return harness;
  }

  /** Fills the disk of a new VM. @returns its ref */
  async function receive(
    harness: SandboxHarness,
    parts: AsyncIterable<readonly [number, Buffer]>,
  ): Promise<InstanceRef> {
    const ingest = harness.backend.require('diskIngest');
    const spec: IngestSpec = {
      id: randomUUID(),
      ref: harness.freshRef(),
      vm: VM,
      mapping: { networks: {}, storageClasses: {} },
    };
    await ingest.begin(spec);
    const writer = await ingest.write(spec, 'vda', never);
    for await (const [offset, data] of parts) await writer.write(offset, data);
    await writer.finish();
    await ingest.commit(spec);
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    return spec.ref;
  }

  async function* content(harness: SandboxHarness, ref: InstanceRef): AsyncGenerator<readonly [number, Buffer]> {
    const source = harness.backend.require('diskSource');
    const [disk] = (await source.describe(ref)).vm.disks;
    let offset = 0;
    for await (const chunk of (await source.open(ref, disk?.name ?? '', never)) as AsyncIterable<Buffer>) {
      yield [offset, chunk];
      offset += chunk.length;
    }
  }

  async function* original(): AsyncGenerator<readonly [number, Buffer]> {
    for (const [offset, bytes] of FILLED) yield [offset, noise(bytes)];
  }

  test(
    'has the same bytes after a move between two simulated clusters',
    async () => {
      const [from, to] = [await open(), await open()];
      const first = await receive(from, original());
      const second = await receive(to, content(from, first));
      const expected = Buffer.alloc(SIZE);
      for await (const [offset, data] of original()) data.copy(expected, offset);
      const moved = Buffer.alloc(SIZE, 1);
      let bytes = 0;
      for await (const [offset, data] of content(to, second)) bytes += data.copy(moved, offset);
      expect(bytes).toBe(SIZE);
      expect(moved.equals(expected)).toBe(true);
    },
    TIMEOUT_MS,
  );
});
