import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  hashesOf,
  hashOfZeros,
  type Backend,
  type DiskIngest,
  type IngestSpec,
  type InstanceRef,
  type PortableVm,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;
const DISK_BYTES = 8 * MIB;

const VM: PortableVm = {
  cpu: 1,
  memoryBytes: 256 * MIB,
  arch: '',
  firmware: 'bios',
  tpm: false,
  autostart: false,
  tags: ['moved'],
  disks: [{ name: 'vda', sizeBytes: DISK_BYTES, usedBytes: null, bus: 'virtio' }],
  nics: [],
};

export interface DiskIngestContractOptions extends ContractOptions {
  /** Whether the VM exists, and can't be started, before it is complete. Default true. */
  readonly reservesName?: boolean;
  /** Whether parts of a disk can be written again. Default true. */
  readonly isUpdatable?: boolean;
  /** Whether disks of the machine of the service are copied without a stream. Default false. */
  readonly isFilledLocally?: boolean;
  /** Whether a lack of space can be foreseen. Default true. */
  readonly knowsSpace?: boolean;
}

/** The rules for every `DiskIngest`. */
export function diskIngestContract(
  adapter: string,
  open: OpenHarness,
  {
    timeoutMs = 30_000,
    reservesName = true,
    isUpdatable = true,
    isFilledLocally = false,
    knowsSpace = true,
  }: DiskIngestContractOptions = {},
): void {
  describe(`DiskIngest, ${adapter}`, () => {
    let harness: BackendHarness;
    let ingest: DiskIngest;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      ingest = harness.backend.require('diskIngest');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const specOf = (ref: InstanceRef = harness.freshRef(), vm = VM): IngestSpec => ({
      id: randomUUID(),
      ref,
      vm,
      mapping: { networks: {}, storageClasses: {} },
    });

    /** Two parts with holes around them. */
    const parts = [
      { offset: 64 * 1024, data: randomBytes(128 * 1024) },
      { offset: 3 * MIB, data: randomBytes(MIB) },
    ];
    const content = Buffer.alloc(DISK_BYTES);
    for (const { offset, data } of parts) data.copy(content, offset);

    const fill = async (spec: IngestSpec): Promise<void> => {
      const writer = await ingest.write(spec, 'vda', never);
      for (const { offset, data } of parts) await writer.write(offset, data);
      await writer.finish();
    };

    inTime('can receive, and plans without changing anything', async () => {
      await ingest.check();
      const spec = specOf();
      const { steps, refusals, format } = await ingest.plan(spec);
      expect(refusals).toEqual([]);
      expect(steps.length).toBeGreaterThan(0);
      expect(format).toMatch(/^(qcow2|raw)$/);
      expect(await ingest.state(spec)).toBe('absent');
    });

    inTime('has the same bytes in the end, with zeros where nothing was written', async () => {
      const spec = specOf();
      await ingest.begin(spec);
      expect(await ingest.state(spec)).toBe('partial');
      await fill(spec);
      const found = await listed(ingest.hashes(spec, 'vda', never));
      expect(found).toEqual(await listed(hashesOf(Readable.from([content]))));
      expect(found).toHaveLength(4);
      await ingest.commit(spec);
      await ingest.commit(spec);
      expect(await ingest.state(spec)).toBe('committed');
      const vm = await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
      expect(vm).toMatchObject({ cpu: 1, memoryBytes: 256 * MIB, tags: ['moved'] });
      const source = harness.backend.require('diskSource');
      const [disk] = (await source.describe(spec.ref)).vm.disks;
      const read = await buffer(await source.open(spec.ref, disk?.name ?? '', never));
      expect(read.equals(content.subarray(0, read.length))).toBe(true);
      expect(read.length).toBeGreaterThanOrEqual(4 * MIB);
    });

    if (isUpdatable)
      inTime('changes parts of a disk that was filled, and reads them back', async () => {
        const spec = specOf();
        await ingest.begin(spec);
        await fill(spec);
        expect(ingest.updateProblem).toBeUndefined();
        const update = await ingest.update(spec, 'vda', never);
        const [zeros, data] = [Buffer.alloc(64 * 1024), randomBytes(64 * 1024)];
        await update.write(3 * MIB, zeros);
        await update.write(MIB, data);
        expect((await update.read(MIB, data.length)).equals(data)).toBe(true);
        expect((await update.read(3 * MIB, MIB)).subarray(0, zeros.length).equals(zeros)).toBe(true);
        await update.finish();
        const expected = Buffer.from(content);
        data.copy(expected, MIB);
        zeros.copy(expected, 3 * MIB);
        const found = await listed(ingest.hashes(spec, 'vda', never));
        expect(found).toEqual(await listed(hashesOf(Readable.from([expected]))));
        const left = await ingest.update(spec, 'vda', never);
        await left.abort();
        await left.abort();
        await expect(ingest.update(spec, 'none', never)).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
        await ingest.commit(spec);
        await expect(ingest.update(spec, 'vda', never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      });
    else
      inTime('says why a disk that was filled is not changed', async () => {
        expect(ingest.updateProblem).toMatch(/\.$/);
        await expect(ingest.update(specOf(), 'vda', never)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      });

    if (isFilledLocally)
      inTime('is filled with a disk of this machine, in place of what an interrupted copy has left', async () => {
        const folder = await mkdtemp(join(tmpdir(), 'hgtest-fill-'));
        afterTest(() => rm(folder, { recursive: true }));
        const [first, second] = [join(folder, 'first'), join(folder, 'second')];
        // A guest could write the header of an image that names other files.
        const other = Buffer.concat([Buffer.from('QFI\xfb\x00\x00\x00\x03', 'latin1'), Buffer.alloc(DISK_BYTES - 8)]);
        await Promise.all([writeFile(first, content), writeFile(second, other)]);
        const spec = specOf();
        await ingest.begin(spec);
        const reports: number[] = [];
        const fill = (path: string, { disk = 'vda', signal = never } = {}): Promise<number | undefined> => {
          const from = { path, format: 'raw' };
          return ingest.fill(spec, disk, { from, report: (offset) => reports.push(offset), signal });
        };
        const used = await fill(first);
        expect(used).toBeGreaterThanOrEqual(MIB);
        expect(used).toBeLessThan(DISK_BYTES);
        expect([reports.at(-1), reports.toSorted((a, b) => a - b)]).toEqual([DISK_BYTES, reports]);
        expect(await listed(ingest.hashes(spec, 'vda', never))).toEqual(
          await listed(hashesOf(Readable.from([content]))),
        );

        await expect(fill(first, { signal: AbortSignal.abort() })).rejects.toBeDefined();
        await expect(fill(first, { disk: 'none' })).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
        await expect(fill(join(folder, 'none'))).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
        expect(await fill(second)).toBeLessThan(DISK_BYTES);
        expect(await listed(ingest.hashes(spec, 'vda', never))).toEqual(await listed(hashesOf(Readable.from([other]))));
        await ingest.commit(spec);
        await expect(fill(first)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      });
    else
      inTime('is filled with a stream only', async () => {
        const spec = specOf();
        await ingest.begin(spec);
        const from = { path: '/dev/null', format: 'raw' };
        expect(await ingest.fill(spec, 'vda', { from, report: () => undefined, signal: never })).toBeUndefined();
        await ingest.discard(spec);
      });

    if (reservesName)
      inTime('does not start a VM that is not complete', async () => {
        const spec = specOf();
        await ingest.begin(spec);
        await recorder.untilVm(spec.ref, ({ status }) => status === 'Provisioning');
        await expect(harness.backend.require('power').apply(spec.ref, 'start')).rejects.toMatchObject({
          code: expect.stringMatching(/^(BUSY|WRONG_STATE)$/),
        });
        await ingest.discard(spec);
      });

    inTime('leaves nothing behind when it is discarded, at any point', async () => {
      const early = specOf();
      await ingest.discard(early);
      await ingest.begin(early);
      await ingest.discard(early);
      await ingest.discard(early);
      expect(await ingest.state(early)).toBe('absent');
      const late = { ...specOf(early.ref), id: randomUUID() };
      await ingest.begin(late);
      const writer = await ingest.write(late, 'vda', never);
      await writer.write(0, parts[0]?.data ?? Buffer.alloc(0));
      await writer.abort();
      await writer.abort();
      await ingest.discard(late);
      expect(await ingest.state(late)).toBe('absent');
      await recorder.until(() => recorder.vm(late.ref) === undefined);
    });

    inTime('never discards a VM that is complete, nor one of another attempt', async () => {
      const spec = specOf();
      await ingest.begin(spec);
      await fill(spec);
      const other = { ...spec, id: randomUUID() };
      expect(await ingest.state(other)).toBe('absent');
      await ingest.discard(other);
      expect(await ingest.state(spec)).toBe('partial');
      await ingest.commit(spec);
      await expect(ingest.discard(spec)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(ingest.write(spec, 'vda', never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(await ingest.state(spec)).toBe('committed');
    });

    inTime('stores the variables of a firmware, in place of those of an attempt that was interrupted', async () => {
      const sizes = [540_672, 131_072, 12];
      const specs = sizes.map((sizeBytes) =>
        specOf(undefined, { ...VM, firmware: 'uefi', firmwareVariables: { sizeBytes } }),
      );
      for (const spec of specs) {
        const { firmwareVariables, refusals } = await ingest.plan(spec);
        if (refusals.length > 0) continue;
        // Either they are stored, or the plan says why not.
        if (firmwareVariables !== true) {
          expect(firmwareVariables).toMatch(/\.$/);
          continue;
        }
        const variables = randomBytes(540_672);
        await ingest.begin(spec);
        await ingest.writeFirmwareVariables(spec, Buffer.from('half'));
        await ingest.writeFirmwareVariables(spec, variables);
        expect((await ingest.readFirmwareVariables(spec)).equals(variables)).toBe(true);
        await ingest.discard(spec);
        expect(await ingest.state(spec)).toBe('absent');
        await ingest.begin(spec);
        await ingest.commit(spec);
        await expect(ingest.writeFirmwareVariables(spec, variables)).rejects.toMatchObject({ code: 'WRONG_STATE' });
        return;
      }
    });

    inTime('refuses a name that is taken, and leaves its VM alone', async () => {
      const taken = await harness.givenVm('Stopped');
      const spec = specOf(taken);
      expect((await ingest.plan(spec)).refusals).toMatchObject([{ code: 'ALREADY_EXISTS' }]);
      await expect(ingest.begin(spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      expect(await ingest.state(spec)).toBe('absent');
      await ingest.discard(spec);
      await recorder.untilVm(taken, ({ status }) => status === 'Stopped');
    });

    if (knowsSpace)
      inTime('refuses disks for which there is no space', async () => {
        const disks = VM.disks.map((disk) => ({ ...disk, sizeBytes: 2 ** 52, usedBytes: 2 ** 52 }));
        const { refusals } = await ingest.plan(specOf(undefined, { ...VM, disks }));
        expect(refusals.map(({ code }) => code)).toContain('INSUFFICIENT_STORAGE');
      });

    inTime('knows no disk and no target that do not exist', async () => {
      const spec = specOf();
      await expect(ingest.write(spec, 'vda', never)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(ingest.commit(spec)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await ingest.begin(spec);
      await expect(ingest.write(spec, 'none', never)).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
      await ingest.discard(spec);
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('diskIngest').check();
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

/** Without the blocks of zeros at the end, which a backend may leave out. */
async function listed(hashes: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const hash of hashes) found.push(hash);
  const zeros = await hashOfZeros();
  return found.slice(0, found.findLastIndex((hash) => hash !== zeros) + 1);
}
