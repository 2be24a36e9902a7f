import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type {
  Backend,
  InstanceRef,
  InstantRestore,
  InstantRestoreReport,
  InstantRestoreSpec,
  PortableVm,
  ProofDisk,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const MIB = 1024 ** 2;
const DISK_BYTES = 8 * MIB;

interface Recorded extends InstantRestoreReport {
  readonly calls: string[];
  readonly copiedBytes: () => number;
}

/** The rules for every `InstantRestore`. Guests that use their disks are in the tests of the adapters. */
export function instantRestoreContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`InstantRestore, ${adapter}`, () => {
    let harness: BackendHarness;
    let restore: InstantRestore;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;
    const content = Buffer.concat([randomBytes(3 * MIB), Buffer.alloc(2 * MIB), randomBytes(3 * MIB)]);

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      restore = harness.backend.require('instantRestore');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const vm: PortableVm = {
      cpu: 1,
      memoryBytes: 256 * MIB,
      arch: '',
      firmware: 'bios',
      tpm: false,
      autostart: false,
      tags: [],
      disks: [{ name: 'vda', sizeBytes: DISK_BYTES, usedBytes: null, bus: 'virtio' }],
      nics: [],
    };
    const disk = (read?: ProofDisk['read']): ProofDisk => ({
      name: 'vda',
      sizeBytes: DISK_BYTES,
      read: read ?? (async (offset, length) => content.subarray(offset, offset + length)),
    });
    const reserved = async (read?: ProofDisk['read']): Promise<InstantRestoreSpec> => {
      const target = { id: randomUUID(), ref: harness.freshRef() };
      const mapping = { networks: {}, storageClasses: {} };
      await harness.backend.require('diskIngest').begin({ ...target, vm, mapping });
      return { ...target, disks: [disk(read)] };
    };
    const recorded = (more: Partial<InstantRestoreReport> = {}): Recorded => {
      const calls: string[] = [];
      let bytes = 0;
      return {
        calls,
        copiedBytes: () => bytes,
        starting: async () => void calls.push('starting'),
        started: () => void calls.push('started'),
        copied: (done) => void (bytes = done),
        waits: (reason) => void calls.push(reason),
        ...more,
      };
    };
    const statusOf = (ref: InstanceRef, status: string) => recorder.untilVm(ref, (one) => one.status === status);
    const contentOf = async (ref: InstanceRef): Promise<Buffer> =>
      buffer(await harness.backend.require('diskSource').open(ref, 'vda', never));
    const stop = async (ref: InstanceRef): Promise<void> => {
      await harness.backend.require('power').apply(ref, 'stop', { force: true });
      await statusOf(ref, 'Stopped');
    };

    inTime('runs the guest before its disks are copied, and needs the backup no longer at the end', async () => {
      expect((await restore.plan(harness.freshRef())).refusals).toEqual([]);
      const gate = Promise.withResolvers<void>();
      const spec = await reserved(async (offset, length) => {
        if (offset >= 4 * MIB) await gate.promise;
        return content.subarray(offset, offset + length);
      });
      expect(await restore.state(spec)).toBe('blank');
      const report = recorded();
      const work = restore.run(spec, report, never);
      await statusOf(spec.ref, 'Running');
      expect(await restore.state(spec)).toBe('running');
      await expect(restore.run(spec, recorded(), never)).rejects.toMatchObject({ code: 'BUSY' });
      gate.resolve();
      expect(await work).toBe('complete');
      expect(report.calls).toEqual(['starting', 'started']);
      expect(report.copiedBytes()).toBe(DISK_BYTES);
      expect(await restore.state(spec)).toBe('complete');
      expect(await restore.run({ ...spec, disks: [disk(unreadable)] }, recorded(), never)).toBe('complete');
      await stop(spec.ref);
      expect((await contentOf(spec.ref)).equals(content)).toBe(true);
    });

    inTime('waits for a part that can not be read, and says which', async () => {
      let isRepaired = false;
      const spec = await reserved(async (offset, length) => {
        if (offset + length > 6 * MIB && !isRepaired) throw new Error('blob 1234 is damaged');
        return content.subarray(offset, offset + length);
      });
      const waiting = Promise.withResolvers<string>();
      const work = restore.run(spec, recorded({ waits: waiting.resolve }), never);
      expect(await waiting.promise).toMatch(/vda .*blob 1234 is damaged/);
      expect(await restore.state(spec)).toBe('running');
      isRepaired = true;
      expect(await work).toBe('complete');
      await stop(spec.ref);
      expect((await contentOf(spec.ref)).equals(content)).toBe(true);
    });

    inTime('is ended by its caller, and goes on later without a second start', async () => {
      const end = new AbortController();
      const spec = await reserved(async (offset, length) => {
        if (offset >= 2 * MIB) end.abort(new Error('the service stops'));
        if (end.signal.aborted) throw new Error('gone');
        return content.subarray(offset, offset + length);
      });
      await expect(restore.run(spec, recorded(), end.signal)).rejects.toThrow('the service stops');
      expect(await restore.state(spec)).toBe('running');
      const report = recorded();
      expect(await restore.run({ ...spec, disks: [disk()] }, report, never)).toBe('complete');
      expect(report.calls).not.toContain('starting');
      await stop(spec.ref);
      expect((await contentOf(spec.ref)).equals(content)).toBe(true);
    });

    inTime('copies the rest of a VM that is stopped, and does not start it again', async () => {
      const gate = Promise.withResolvers<void>();
      const spec = await reserved(async (offset, length) => {
        if (offset >= 2 * MIB) await gate.promise;
        return content.subarray(offset, offset + length);
      });
      const work = restore.run(spec, recorded(), never);
      await statusOf(spec.ref, 'Running');
      await stop(spec.ref);
      gate.resolve();
      expect(await work).toBe('complete');
      await statusOf(spec.ref, 'Stopped');
      expect((await contentOf(spec.ref)).equals(content)).toBe(true);
    });

    inTime('ends with the deletion of its VM', async () => {
      const spec = await reserved(unreadable);
      const waiting = Promise.withResolvers<string>();
      const work = restore.run(spec, recorded({ waits: waiting.resolve }), never);
      await waiting.promise;
      await harness.backend.require('provisioning').delete(spec.ref);
      expect(await work).toBe('absent');
      expect(await restore.state(spec)).toBe('absent');
      await restore.discard(spec);
    });

    inTime('starts nothing when its caller refuses that, and leaves a VM that can be discarded', async () => {
      const spec = await reserved();
      const starting = (): Promise<void> => Promise.reject(new Error('canceled before'));
      await expect(restore.run(spec, recorded({ starting }), never)).rejects.toThrow('canceled before');
      expect(await restore.state(spec)).toBe('blank');
      await harness.backend.require('diskIngest').discard(spec);
      await restore.discard(spec);
      expect(await restore.state(spec)).toBe('absent');
      expect(await restore.run(spec, recorded(), never)).toBe('absent');
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('instantRestore').state({ id: randomUUID(), ref: harness.freshRef() });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}

const unreadable = (): Promise<Buffer> => Promise.reject(new Error('the target is away'));
