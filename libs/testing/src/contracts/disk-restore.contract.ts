import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  hashesOf,
  type Backend,
  type DiskRestore,
  type DiskRestoreMode,
  type DiskRestoreSpec,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

const MIB = 1024 ** 2;
const NEW_BYTES = 12 * MIB;
const EMPTY = 'vda-of-no-vm';

/** The rules for every `DiskRestore`. */
export function diskRestoreContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`DiskRestore, ${adapter}`, () => {
    let harness: BackendHarness;
    let restore: DiskRestore;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      restore = harness.backend.require('diskRestore');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const parts = [
      { offset: 64 * 1024, data: randomBytes(128 * 1024) },
      { offset: 3 * MIB, data: randomBytes(MIB) },
    ];
    const content = Buffer.alloc(NEW_BYTES);
    for (const { offset, data } of parts) data.copy(content, offset);

    const specOf = (
      { ref, uid }: VirtualMachine,
      mode: DiskRestoreMode = 'replace',
      more: Partial<DiskRestoreSpec> = {},
    ): DiskRestoreSpec => ({
      id: randomUUID(),
      ref,
      uid,
      mode,
      disks: [{ name: 'vda', sizeBytes: NEW_BYTES, usedBytes: null }],
      ...more,
    });
    const fill = async (spec: DiskRestoreSpec): Promise<void> => {
      const writer = await restore.write(spec, 'vda', never);
      for (const { offset, data } of parts) await writer.write(offset, data);
      await writer.finish();
    };
    const source = () => harness.backend.require('diskSource');
    const disksOf = async ({ ref }: VirtualMachine) => (await source().describe(ref)).vm.disks;
    const contentOf = async ({ ref }: VirtualMachine, disk = 'vda'): Promise<Buffer> =>
      buffer(await source().open(ref, disk, never));
    const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(NEW_BYTES)]).subarray(0, NEW_BYTES);

    inTime('plans the loss of the present content, and changes nothing', async () => {
      const vm = await createdVm(harness, recorder);
      const before = await contentOf(vm);
      const plan = await restore.plan(specOf(vm));
      expect(plan.refusals).toEqual([]);
      expect(plan.steps.length).toBeGreaterThan(0);
      expect(plan.warnings.join('\n')).toMatch(/vda.*lost/);
      expect((await restore.plan(specOf(vm, 'add'))).warnings.join('\n')).not.toContain('lost');
      expect(await restore.state(specOf(vm))).toBe('absent');
      expect((await contentOf(vm)).equals(before)).toBe(true);
    });

    inTime('leaves the VM as it was until the end, and then has the new content as a whole', async () => {
      const vm = await createdVm(harness, recorder);
      const before = await contentOf(vm);
      const spec = specOf(vm);
      await restore.begin(spec);
      expect(await restore.state(spec)).toBe('partial');
      await fill(spec);
      const written = await listed(restore.hashes(spec, 'vda', never));
      const expected = await listed(hashesOf(Readable.from([content])));
      expect([...written, ...expected.slice(written.length)]).toEqual(expected);
      expect(written.length).toBeGreaterThanOrEqual(4);
      expect((await restore.plan(specOf(vm))).refusals).toEqual([expect.objectContaining({ code: 'BUSY' })]);
      const [disk] = await disksOf(vm);
      expect(disk).not.toMatchObject({ sizeBytes: NEW_BYTES });
      await restore.commit(spec);
      await restore.commit(spec);
      expect(await restore.state(spec)).toBe('committed');
      expect(await disksOf(vm)).toEqual([expect.objectContaining({ name: 'vda', sizeBytes: NEW_BYTES })]);
      expect(padded(await contentOf(vm)).equals(content)).toBe(true);
      expect(before.equals(content)).toBe(false);
      await expect(restore.discard(spec)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(restore.write(spec, 'vda', never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect((await recorder.untilVm(vm.ref, ({ status }) => status === 'Stopped')).uid).toBe(vm.uid);
    });

    inTime('removes the new content without a trace, and the VM starts with the old one', async () => {
      const vm = await createdVm(harness, recorder);
      const before = await contentOf(vm);
      const spec = specOf(vm);
      await restore.begin(spec);
      await fill(spec);
      await restore.discard(spec);
      await restore.discard(spec);
      expect(await restore.state(spec)).toBe('absent');
      expect((await contentOf(vm)).equals(before)).toBe(true);
      expect((await restore.plan(specOf(vm))).refusals).toEqual([]);
      await harness.backend.require('power').apply(vm.ref, 'start');
      await recorder.untilVm(vm.ref, ({ status }) => status === 'Running');
    });

    inTime('replaces no disk of a VM that runs', async () => {
      const vm = await createdVm(harness, recorder, { start: true });
      expect((await restore.plan(specOf(vm))).refusals).toEqual([expect.objectContaining({ code: 'WRONG_STATE' })]);
      await expect(restore.begin(specOf(vm))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('adds a disk to a VM, whose other disks stay as they are', async () => {
      const vm = await createdVm(harness, recorder);
      const before = await contentOf(vm);
      const spec = specOf(vm, 'add');
      await restore.begin(spec);
      await fill(spec);
      expect(await disksOf(vm)).toHaveLength(1);
      await restore.commit(spec);
      await restore.commit(spec);
      expect(await restore.state(spec)).toBe('committed');
      const [boot, added, ...others] = await disksOf(vm);
      expect(others).toEqual([]);
      expect(added).toMatchObject({ sizeBytes: NEW_BYTES });
      expect(boot?.name).toBe('vda');
      expect((await contentOf(vm)).equals(before)).toBe(true);
      expect(padded(await contentOf(vm, added?.name)).equals(content)).toBe(true);
    });

    inTime('refuses another VM of the name, disks that the VM does not have, and those that do not fit', async () => {
      const vm = await createdVm(harness, recorder);
      const codes = async (spec: DiskRestoreSpec): Promise<string[]> =>
        (await restore.plan(spec)).refusals.map(({ code }) => code);
      expect(await codes(specOf({ ...vm, uid: randomUUID() }))).toContain('WRONG_STATE');
      expect(await codes(specOf({ ...vm, uid: randomUUID() }, 'add'))).toContain('WRONG_STATE');
      const missing = [{ name: EMPTY, sizeBytes: MIB, usedBytes: null }];
      expect(await codes(specOf(vm, 'replace', { disks: missing }))).toEqual(['DEVICE_NOT_FOUND']);
      const huge = [{ name: 'vda', sizeBytes: 2 ** 50, usedBytes: 2 ** 50 }];
      expect(await codes(specOf(vm, 'replace', { disks: huge }))).toContain('INSUFFICIENT_STORAGE');
      await expect(restore.begin(specOf(vm, 'add', { disks: huge }))).rejects.toMatchObject({
        code: 'INSUFFICIENT_STORAGE',
      });
      const other = specOf({ ...vm, uid: randomUUID() });
      await expect(restore.begin(other)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(await restore.state(other)).toBe('absent');
      const spec = specOf(vm);
      await restore.begin(spec);
      await expect(restore.write(spec, EMPTY, never)).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
      await restore.discard(spec);
    });

    inTime('reports a VM that does not exist, and a backend that does not answer', async () => {
      const gone = { ref: harness.freshRef(), uid: randomUUID() };
      const spec: DiskRestoreSpec = { ...gone, id: randomUUID(), mode: 'replace', disks: [] };
      await expect(restore.plan(spec)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      expect(await restore.state(spec)).toBe('absent');
      await restore.discard(spec);
      const away = unreachable.require('diskRestore').state(spec);
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

async function listed<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}
