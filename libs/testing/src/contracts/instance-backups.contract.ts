import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import {
  backupImageName,
  type Backend,
  type BackupRequest,
  type InstanceBackups,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

const BOOT_SIGNATURE = 0xaa55;
const SECTOR_BYTES = 512;
const QCOW2_MAGIC = 'QFI\xfb';

/** The rules for every `InstanceBackups`. */
export function instanceBackupsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstanceBackups, ${adapter}`, () => {
    let harness: BackendHarness;
    let backups: InstanceBackups;
    let recorder: InventoryRecorder;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      backups = harness.backend.require('backups');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    /** QEMU 7.2 can crash when a guest resets its disk, as its firmware does, while a backup begins. */
    const runningVm = async (): Promise<InstanceRef> => {
      const { ref } = await createdVm(harness, recorder, { start: true });
      await harness.untilIdle?.(ref);
      return ref;
    };
    const openExport = (ref: InstanceRef, request: BackupRequest): Promise<Readable> =>
      backups.open(ref, request, new AbortController().signal);
    const closed = (stream: Readable): Promise<unknown> =>
      new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
    /** Reads an export to its end, and waits until everything behind it has ended. */
    const download = async (ref: InstanceRef, request: BackupRequest): Promise<Buffer> => {
      const stream = await openExport(ref, request);
      const end = closed(stream);
      const content = await buffer(stream);
      await end;
      return content;
    };
    const full = (checkpoint: string): BackupRequest => ({ checkpoint, format: 'raw.gz' });
    const namesOf = async (ref: InstanceRef): Promise<string[]> => (await backups.list(ref)).map(({ name }) => name);
    const baseOf = (image: Buffer): string => {
      expect(image.toString('latin1', 0, 4)).toBe(QCOW2_MAGIC);
      const at = Number(image.readBigUInt64BE(8));
      return image.toString('utf8', at, at + image.readUInt32BE(16));
    };

    inTime(
      'exports the disk of a running VM, and the changes since then on the image of their checkpoint',
      async () => {
        const ref = await runningVm();
        expect(await backups.list(ref)).toEqual([]);
        await backups.check(ref, full('one'));
        const image = gunzipSync(await download(ref, full('one')));
        expect([image.length % SECTOR_BYTES, image.readUInt16LE(SECTOR_BYTES - 2)]).toEqual([0, BOOT_SIGNATURE]);
        expect(await backups.list(ref)).toMatchObject([{ name: 'one', ready: true }]);
        const next: BackupRequest = { since: 'one', checkpoint: 'two' };
        await backups.check(ref, next);
        expect(baseOf(await download(ref, next))).toBe(backupImageName(ref.name, 'one'));
        expect(baseOf(await download(ref, { since: 'two' }))).toBe(backupImageName(ref.name, 'two'));
        const checkpoints = await backups.list(ref);
        expect(checkpoints.map(({ name }) => name)).toEqual(['one', 'two']);
        for (const { creationTime } of checkpoints) expect(Date.parse(creationTime)).not.toBeNaN();
        expect(recorder.vm(ref)).toMatchObject({ status: 'Running' });
      },
    );

    inTime('exports a whole disk as qcow2, which needs no other file', async () => {
      const ref = await runningVm();
      const image = await download(ref, { checkpoint: 'one', format: 'qcow2' });
      expect([baseOf(image), image.readBigUInt64BE(8)]).toEqual(['', 0n]);
    });

    inTime('keeps no checkpoint of an export whose reader leaves, and allows the next one', async () => {
      const ref = await runningVm();
      const stream = await openExport(ref, full('one'));
      const end = closed(stream);
      stream.destroy();
      await end;
      expect(await namesOf(ref)).toEqual([]);
      await expect(backups.open(ref, full('one'), AbortSignal.abort())).rejects.toBeDefined();
      expect(await namesOf(ref)).toEqual([]);
      await download(ref, full('one'));
      expect(await namesOf(ref)).toEqual(['one']);
      expect(recorder.vm(ref)).toMatchObject({ status: 'Running' });
    });

    inTime('allows one export of a running VM at a time', async () => {
      const ref = await runningVm();
      const stream = await openExport(ref, full('one'));
      for (const attempt of [
        () => openExport(ref, full('two')),
        () => backups.check(ref, full('two')),
        () => backups.delete(ref, 'one'),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'BUSY' });
      const end = closed(stream);
      stream.resume();
      await once(stream, 'end');
      await end;
      expect(await namesOf(ref)).toEqual(['one']);
    });

    inTime('refuses checkpoints that do not exist, names that do, and VMs that are not running', async () => {
      const ref = await runningVm();
      await download(ref, full('one'));
      for (const [request, code] of [
        [{ since: 'other' }, 'CHECKPOINT_NOT_FOUND'],
        [{ since: 'other', checkpoint: 'two' }, 'CHECKPOINT_NOT_FOUND'],
        [full('one'), 'ALREADY_EXISTS'],
        [{ since: 'one', checkpoint: 'one' }, 'ALREADY_EXISTS'],
      ] as [BackupRequest, string][]) {
        await expect(backups.check(ref, request)).rejects.toMatchObject({ code });
        await expect(openExport(ref, request)).rejects.toMatchObject({ code });
      }
      expect(await namesOf(ref)).toEqual(['one']);
      await harness.backend.require('power').apply(ref, 'stop', { force: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      for (const request of [full('two'), { since: 'one' }]) {
        await expect(backups.check(ref, request)).rejects.toMatchObject({ code: 'WRONG_STATE' });
        await expect(openExport(ref, request)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      }
      expect(await backups.list(ref)).toMatchObject([{ name: 'one', ready: false, reason: expect.any(String) }]);
    });

    inTime('deletes a checkpoint and keeps the others, of a VM that runs or not', async () => {
      const ref = await runningVm();
      await download(ref, full('one'));
      await download(ref, { since: 'one', checkpoint: 'two' });
      await download(ref, { since: 'two', checkpoint: 'three' });
      const { steps } = await backups.planDelete(ref, 'two');
      expect(steps.length).toBeGreaterThan(0);
      expect(await namesOf(ref)).toEqual(['one', 'two', 'three']);
      await backups.delete(ref, 'two');
      expect(await backups.list(ref)).toMatchObject([
        { name: 'one', ready: true },
        { name: 'three', ready: true },
      ]);
      await download(ref, { since: 'one' });
      for (const attempt of [() => backups.delete(ref, 'two'), () => backups.planDelete(ref, 'two')])
        await expect(attempt()).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
      await harness.backend.require('power').apply(ref, 'stop', { force: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      await backups.delete(ref, 'one');
      await harness.backend.require('power').apply(ref, 'start');
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      await harness.untilIdle?.(ref, 2);
      expect(await backups.list(ref)).toMatchObject([{ name: 'three', ready: true }]);
      await download(ref, { since: 'three', checkpoint: 'one' });
      expect(await namesOf(ref)).toEqual(['three', 'one']);
    });

    inTime('keeps the checkpoints of two VMs apart, and deletes them with their VM', async () => {
      const [one, other] = [await runningVm(), await runningVm()];
      await download(one, full('one'));
      expect(await namesOf(other)).toEqual([]);
      await expect(backups.delete(other, 'one')).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
      await expect(openExport(other, { since: 'one' })).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
      expect(await namesOf(one)).toEqual(['one']);
      await harness.backend.require('provisioning').delete(one);
      await recorder.until(() => recorder.vm(one) === undefined);
      await createdVm(harness, recorder, { ref: one });
      expect(await namesOf(one)).toEqual([]);
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      for (const attempt of [
        () => backups.list(missing),
        () => backups.check(missing, full('one')),
        () => openExport(missing, full('one')),
        () => backups.planDelete(missing, 'one'),
        () => backups.delete(missing, 'one'),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = { ...missingRef(harness), context: unreachable.context };
      await expect(unreachable.require('backups').list(away)).rejects.toMatchObject({
        code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/),
      });
    });
  });
}
