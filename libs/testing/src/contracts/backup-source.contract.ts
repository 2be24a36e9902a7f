import type {
  Backend,
  BackupDisk,
  BackupReading,
  BackupReadRequest,
  BackupSource,
  InstanceRef,
  VirtualMachine,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

const MIB = 1024 ** 2;
const SECTOR_BYTES = 512;
const SERIES = 'contract';

export interface BackupSourceContractOptions extends ContractOptions {
  /** Whether the engine records what changes after a backup. Default: it does. */
  readonly hasCheckpoints?: boolean;
}

/** The rules for every `BackupSource`. */
export function backupSourceContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, hasCheckpoints = true }: BackupSourceContractOptions = {},
): void {
  describe(`BackupSource, ${adapter}`, () => {
    let harness: BackendHarness;
    let source: BackupSource;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      source = harness.backend.require('backupSource');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const vmWithDisk = async (start: boolean): Promise<VirtualMachine> => {
      const source = await harness.diskSource?.();
      return createdVm(harness, recorder, { start, ...(source && { source }) });
    };
    const runningVm = async (): Promise<InstanceRef> => {
      const { ref } = await vmWithDisk(true);
      await harness.untilIdle?.(ref);
      return ref;
    };
    const read = async (ref: InstanceRef, request: Partial<BackupReadRequest> = {}): Promise<BackupReading> => {
      const reading = await source.open(ref, { series: SERIES, ...request }, never);
      afterTest(() => reading.close({ keep: false }));
      return reading;
    };
    const bootDisk = ({ disks: [disk] }: BackupReading): BackupDisk => {
      if (!disk) throw new Error('The reading has no disk.');
      return disk;
    };
    const write = async (ref: InstanceRef, offset: number, byte: number): Promise<void> => {
      if (!harness.writeAsGuest) throw new Error('The harness can not write as the guest does.');
      await harness.writeAsGuest(ref, { offset, length: SECTOR_BYTES, byte });
    };
    const bytesAt = async (reading: BackupReading, offset: number): Promise<number[]> => [
      ...new Set(await bootDisk(reading).read(offset, SECTOR_BYTES)),
    ];
    const isMarked = (reading: BackupReading, offset: number): boolean | 'all' => {
      const { changed } = bootDisk(reading);
      if (changed === 'all') return changed;
      return changed.some((extent) => extent.offset <= offset && offset < extent.offset + extent.length);
    };

    const ifRecorded = hasCheckpoints ? inTime : (): void => undefined;
    const ifNotRecorded = hasCheckpoints ? (): void => undefined : inTime;

    ifNotRecorded('reads a VM that runs as it was at one moment, each time as a whole', async () => {
      const ref = await runningVm();
      const isWritten = harness.writeAsGuest !== undefined;
      if (isWritten) await write(ref, 2 * MIB, 1);
      const reading = await read(ref);
      expect(isMarked(reading, 0)).toBe('all');
      expect(reading.consistency).not.toBe('stopped');
      expect(reading.checkpoint).toBeUndefined();
      if (isWritten) {
        await write(ref, 2 * MIB, 9);
        expect(await bytesAt(reading, 2 * MIB)).toEqual([1]);
      }
      // In any order, and several at a time.
      const disk = bootDisk(reading);
      const end = disk.sizeBytes - SECTOR_BYTES;
      const parts = await Promise.all([end, 0, MIB, 0].map((offset) => disk.read(offset, SECTOR_BYTES)));
      expect(parts[1]?.readUInt16LE(SECTOR_BYTES - 2)).toBe(0xaa55);
      expect(parts[3]?.equals(parts[1] ?? Buffer.alloc(0))).toBe(true);
      await expect(disk.read(end, 2 * SECTOR_BYTES)).rejects.toThrow();
      await reading.close({ keep: true });
      await reading.close({ keep: true });
      await expect(disk.read(0, SECTOR_BYTES)).rejects.toThrow();
      const later = await read(ref, { since: 'a-checkpoint-that-was-removed' });
      expect([isMarked(later, 0), later.wholeReason]).toEqual(['all', expect.stringMatching(/\.$/)]);
    });

    ifRecorded('reads a VM that runs as it was at one moment, and later only its changes', async () => {
      const ref = await runningVm();
      expect(await source.check(ref)).toEqual([]);
      await write(ref, 2 * MIB, 1);
      const first = await read(ref);
      expect(isMarked(first, 0)).toBe('all');
      expect(first.wholeReason).toBeUndefined();
      expect(first.consistency).not.toBe('stopped');
      // After the moment, before it is read.
      await write(ref, 2 * MIB, 9);
      await write(ref, 4 * MIB, 9);
      expect(await bytesAt(first, 2 * MIB)).toEqual([1]);
      expect(await bytesAt(first, 4 * MIB)).not.toEqual([9]);
      expect(first.checkpoint).toBeDefined();
      const bootSector = await bootDisk(first).read(0, SECTOR_BYTES);
      await first.close({ keep: true });
      await first.close({ keep: true });

      const second = await read(ref, { since: first.checkpoint ?? '' });
      expect([2, 4, 6].map((offset) => isMarked(second, offset * MIB))).toEqual([true, true, false]);
      expect(await bytesAt(second, 4 * MIB)).toEqual([9]);
      // Parts that have not changed can be read as well.
      const unchanged = await bootDisk(second).read(0, SECTOR_BYTES);
      expect(unchanged.equals(bootDisk(second).hasOnlyChanges ? Buffer.alloc(SECTOR_BYTES) : bootSector)).toBe(true);
      // A backup that failed is repeated from the same checkpoint.
      await second.close({ keep: false });
      const again = await read(ref, { since: first.checkpoint ?? '' });
      expect(isMarked(again, 4 * MIB)).toBe(true);
      await again.close({ keep: true });
      // A series has one checkpoint.
      const late = await read(ref, { since: first.checkpoint ?? '' });
      expect([isMarked(late, 4 * MIB), late.wholeReason]).toEqual(['all', expect.stringMatching(/\.$/)]);
    });

    ifRecorded('keeps the checkpoints of each series apart, and removes them at its end', async () => {
      const ref = await runningVm();
      const first = await read(ref);
      await first.close({ keep: true });
      const other = await read(ref, { series: 'other' });
      await other.close({ keep: true });
      await source.end(ref, 'other');
      await source.end(ref, 'other');
      const lost = await read(ref, { series: 'other', since: other.checkpoint ?? '' });
      expect(isMarked(lost, 0)).toBe('all');
      await lost.close({ keep: false });
      const next = await read(ref, { since: first.checkpoint ?? '' });
      expect(isMarked(next, 6 * MIB)).toBe(false);
      await next.close({ keep: false });
      const third = await read(ref, { series: 'third' });
      await third.close({ keep: true });
      await source.endAll('third');
      await source.endAll('third');
      const gone = await read(ref, { series: 'third', since: third.checkpoint ?? '' });
      expect(isMarked(gone, 0)).toBe('all');
      await gone.close({ keep: false });
      const kept = await read(ref, { since: first.checkpoint ?? '' });
      expect(isMarked(kept, 6 * MIB)).toBe(false);
    });

    inTime('reads a VM that is stopped, and one backup at a time', async () => {
      const { ref, diskBytes } = await vmWithDisk(false);
      const reading = await read(ref);
      expect([reading.consistency, isMarked(reading, 0), reading.checkpoint]).toEqual(['stopped', 'all', undefined]);
      const disk = bootDisk(reading);
      expect(disk.sizeBytes).toBe(diskBytes);
      const names = (await harness.backend.require('diskSource').describe(ref)).vm.disks.map(({ name }) => name);
      expect(reading.disks.map(({ name }) => name)).toEqual(names);
      expect((await disk.read(0, SECTOR_BYTES)).readUInt16LE(SECTOR_BYTES - 2)).toBe(0xaa55);
      await expect(source.open(ref, { series: 'other' }, never)).rejects.toMatchObject({ code: 'BUSY' });
      await reading.close({ keep: true });
      await (await source.open(ref, { series: 'other' }, never)).close({ keep: true });
    });

    inTime('reads on or fails when the guest is stopped meanwhile, and leaves nothing behind', async () => {
      const ref = await runningVm();
      if (harness.writeAsGuest) await write(ref, 2 * MIB, 1);
      const reading = await read(ref);
      const expected = harness.writeAsGuest ? [1] : await bytesAt(reading, 2 * MIB);
      await harness.backend.require('power').apply(ref, 'stop', { force: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      const bytes = await bytesAt(reading, 2 * MIB).catch((error: unknown) => error);
      expect([expected, expect.objectContaining({ code: 'WRONG_STATE' })]).toContainEqual(bytes);
      await reading.close({ keep: false });
      await (await read(ref)).close({ keep: true });
    });

    inTime('opens nothing for a caller that has left', async () => {
      const ref = await runningVm();
      await expect(source.open(ref, { series: SERIES }, AbortSignal.abort())).rejects.toThrow();
      await (await read(ref)).close({ keep: false });
    });

    inTime('knows no VM that does not exist, and ends its series without an error', async () => {
      const ref = missingRef(harness);
      await expect(source.check(ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(source.open(ref, { series: SERIES }, never)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await source.end(ref, SERIES);
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('backupSource').check({ ...missingRef(harness), context: unreachable.context });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}
