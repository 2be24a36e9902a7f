import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Backend, DiskChanges, DiskRecording, InstanceRef, LiveDisks } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

const MIB = 1024 ** 2;
const SECTOR_BYTES = 512;

/** The rules for every `LiveDisks`. */
export function liveDisksContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`LiveDisks, ${adapter}`, () => {
    let harness: BackendHarness;
    let liveDisks: LiveDisks;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      liveDisks = harness.backend.require('liveDisks');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const recordingOf = (ref: InstanceRef): DiskRecording => {
      const recording = { ref, id: randomUUID() };
      afterTest(() => liveDisks.end(recording));
      return recording;
    };
    const bootDisk = async (ref: InstanceRef): Promise<string> =>
      (await harness.backend.require('diskSource').describe(ref)).vm.disks[0]?.name ?? '';
    const write = async (ref: InstanceRef, offset: number, byte: number): Promise<void> => {
      if (!harness.writeAsGuest) throw new Error('The harness can not write as the guest does.');
      await harness.writeAsGuest(ref, { offset, length: SECTOR_BYTES, byte });
    };
    const bytesAt = async ({ read }: DiskChanges, offset: number): Promise<number[]> => [
      ...new Set(await read(offset, SECTOR_BYTES)),
    ];
    const isWithin = ({ extents }: DiskChanges, offset: number): boolean =>
      extents.some((extent) => extent.offset <= offset && offset < extent.offset + extent.length);
    const changes = async <T>(
      recording: DiskRecording,
      since: number,
      read: (found: DiskChanges) => T | Promise<T>,
    ): Promise<T> => {
      const found = await liveDisks.changes(recording, { disk: await bootDisk(recording.ref), since }, never);
      try {
        return await read(found);
      } finally {
        await found.close();
      }
    };

    inTime(
      'reads the whole disk of a VM that runs, then its changes, and the last ones once it is stopped',
      async () => {
        const { ref, diskBytes } = await createdVm(harness, recorder, { start: true });
        await harness.untilIdle?.(ref);
        expect(await liveDisks.check(ref)).toEqual([]);
        const recording = recordingOf(ref);
        const disk = await bootDisk(ref);
        await write(ref, 2 * MIB, 1);
        const content = await liveDisks.open(recording, disk, never);
        // After the moment, before it is copied.
        await write(ref, 4 * MIB, 9);
        const { beginning, length } = await readDisk(content);
        expect(length).toBeLessThanOrEqual(diskBytes);
        const copied = (offset: number): number[] => [...new Set(beginning.subarray(offset, offset + SECTOR_BYTES))];
        expect(copied(2 * MIB)).toEqual([1]);
        expect(copied(4 * MIB)).not.toEqual([9]);

        await write(ref, 5 * MIB, 2);
        await changes(recording, 1, async (second) => {
          expect(second.isLast).toBe(false);
          expect([4, 5, 2].map((offset) => isWithin(second, offset * MIB))).toEqual([true, true, false]);
          expect(await bytesAt(second, 5 * MIB)).toEqual([2]);
          expect(await bytesAt(second, 4 * MIB)).toEqual([9]);
        });
        await write(ref, 7 * MIB, 3);
        // A moment that was interrupted is repeated, with all changes since the one before it.
        await changes(recording, 1, (again) =>
          expect([isWithin(again, 5 * MIB), isWithin(again, 7 * MIB)]).toEqual([true, true]),
        );
        await write(ref, 6 * MIB, 4);
        await harness.backend.require('power').apply(ref, 'stop', { force: true });
        await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
        await changes(recording, 2, async (last) => {
          expect(last.isLast).toBe(true);
          expect([isWithin(last, 6 * MIB), isWithin(last, 5 * MIB)]).toEqual([true, false]);
          expect(await bytesAt(last, 2 * MIB)).toEqual([1]);
          expect(await bytesAt(last, 6 * MIB)).toEqual([4]);
        });
        await liveDisks.end(recording);
        await liveDisks.end(recording);
        await expect(liveDisks.changes(recording, { disk, since: 2 }, never)).rejects.toMatchObject({
          code: 'CHECKPOINT_INCONSISTENT',
        });
      },
    );

    inTime(
      'has no whole disk of a VM that is stopped, no changes without a recording, and no disk that does not exist',
      async () => {
        const { ref } = await createdVm(harness, recorder);
        const recording = recordingOf(ref);
        const disk = await bootDisk(ref);
        await expect(liveDisks.open(recording, disk, never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
        await expect(liveDisks.changes(recording, { disk, since: 1 }, never)).rejects.toMatchObject({
          code: 'CHECKPOINT_INCONSISTENT',
        });
        await expect(liveDisks.changes(recording, { disk: 'none', since: 1 }, never)).rejects.toMatchObject({
          code: 'DEVICE_NOT_FOUND',
        });
      },
    );

    inTime('knows no VM that does not exist, and ends its recording without an error', async () => {
      const recording = { ref: missingRef(harness), id: randomUUID() };
      await expect(liveDisks.check(recording.ref)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(liveDisks.open(recording, 'vda', never)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await liveDisks.end(recording);
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('liveDisks').check({ ...missingRef(harness), context: unreachable.context });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

/** The disks of some engines are too large for the memory of a test. */
async function readDisk(content: Readable): Promise<{ readonly beginning: Buffer; readonly length: number }> {
  const closed = new Promise((resolve) => content.once('close', resolve));
  const kept: Buffer[] = [];
  let length = 0;
  for await (const part of content as AsyncIterable<Buffer>) {
    if (length < 8 * MIB) kept.push(part);
    length += part.length;
  }
  await closed;
  return { beginning: Buffer.concat(kept), length };
}
