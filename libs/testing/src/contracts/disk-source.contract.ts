import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Backend, DiskSource, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const SECTOR_BYTES = 512;
const BOOT_SIGNATURE = 0xaa55;

export interface DiskSourceContractOptions extends ContractOptions {
  /** Whether the disks are files of the machine of the service. Default false. */
  readonly isLocal?: boolean;
}

/** The rules for every `DiskSource`. */
export function diskSourceContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, isLocal = false }: DiskSourceContractOptions = {},
): void {
  describe(`DiskSource, ${adapter}`, () => {
    let harness: BackendHarness;
    let source: DiskSource;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      source = harness.backend.require('diskSource');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });
    const stoppedVm = (): Promise<InstanceRef> => harness.givenVmWithDisk?.() ?? harness.givenVm('Stopped');

    inTime('describes a VM by what every backend has, with the boot disk first', async () => {
      const ref = await stoppedVm();
      const listed = await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      const { vm, refusals } = await source.describe(ref);
      expect(refusals).toEqual([]);
      expect(vm).toMatchObject({ cpu: listed.cpu, memoryBytes: listed.memoryBytes, tags: listed.tags });
      expect(vm.disks[0]?.sizeBytes).toBe(listed.diskBytes);
    });

    inTime('reads a disk as the guest sees it, the same each time', async () => {
      const ref = await stoppedVm();
      const [disk] = (await source.describe(ref)).vm.disks;
      const content = await buffer(await source.open(ref, disk?.name ?? '', never));
      expect([content.length % SECTOR_BYTES, content.readUInt16LE(SECTOR_BYTES - 2)]).toEqual([0, BOOT_SIGNATURE]);
      expect(content.length).toBeLessThanOrEqual(disk?.sizeBytes ?? 0);
      expect((await buffer(await source.open(ref, disk?.name ?? '', never))).equals(content)).toBe(true);
    });

    inTime('describes a VM that runs, but does not read its disks', async () => {
      const ref = await harness.givenVm('Running');
      const { vm } = await source.describe(ref);
      await expect(source.open(ref, vm.disks[0]?.name ?? 'vda', never)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    if (isLocal)
      inTime('says where the disk of a stopped VM is, and no other one', async () => {
        const ref = await stoppedVm();
        const [disk] = (await source.describe(ref)).vm.disks;
        const found = await source.localDisk(ref, disk?.name ?? '');
        expect(found).toEqual({ path: expect.stringMatching(/^\//), format: expect.stringMatching(/^(qcow2|raw)$/) });
        expect((await stat(found?.path ?? '')).size).toBeGreaterThan(0);
        await expect(source.localDisk(ref, 'none')).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
        const missing = missingRef(harness);
        await expect(source.localDisk(missing, 'vda')).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
        await harness.backend.require('power').apply(ref, 'start');
        await recorder.untilVm(ref, ({ status }) => status === 'Running');
        await expect(source.localDisk(ref, disk?.name ?? '')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      });
    else
      inTime('has no disk on the machine of the service', async () => {
        const ref = await stoppedVm();
        const [disk] = (await source.describe(ref)).vm.disks;
        expect(await source.localDisk(ref, disk?.name ?? '')).toBeUndefined();
      });

    inTime('frees the disk as soon as the reader leaves', async () => {
      const ref = await stoppedVm();
      const [disk] = (await source.describe(ref)).vm.disks;
      const stream = await source.open(ref, disk?.name ?? '', never);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.on('error', () => undefined).destroy();
      await closed;
      await harness.backend.require('power').apply(ref, 'start');
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
    });

    inTime('refuses a disk that the VM does not have, and a reader who left earlier', async () => {
      const ref = await stoppedVm();
      await expect(source.open(ref, 'none', never)).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
      const [disk] = (await source.describe(ref)).vm.disks;
      await expect(source.open(ref, disk?.name ?? '', AbortSignal.abort())).rejects.toBeDefined();
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      await expect(source.describe(missing)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(source.open(missing, 'vda', never)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('diskSource').describe({ ...missingRef(harness), context: unreachable.context });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}
