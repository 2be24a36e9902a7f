import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { Backend, DiskExport, ExportFormat, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

export interface DiskExportContractOptions extends ContractOptions {
  /** Whether the backend exports qcow2. Default true. */
  readonly hasQcow2?: boolean;
}

const BOOT_SIGNATURE = 0xaa55;
const SECTOR_BYTES = 512;

/** The rules for every `DiskExport`. */
export function diskExportContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, hasQcow2 = true }: DiskExportContractOptions = {},
): void {
  describe(`DiskExport, ${adapter}`, () => {
    let harness: BackendHarness;
    let exports: DiskExport;
    let recorder: InventoryRecorder;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      exports = harness.backend.require('diskExport');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });
    const stoppedVm = (): Promise<InstanceRef> => harness.givenVmWithDisk?.() ?? harness.givenVm('Stopped');
    const openExport = (ref: InstanceRef, format: ExportFormat = 'raw.gz', signal = new AbortController().signal) =>
      exports.open(ref, format, signal);

    inTime('exports the content of the boot disk, compressed with gzip, the same each time', async () => {
      const vm = await stoppedVm();
      await exports.check(vm, 'raw.gz');
      const image = gunzipSync(await buffer(await openExport(vm)));
      expect([image.length % SECTOR_BYTES, image.readUInt16LE(SECTOR_BYTES - 2)]).toEqual([0, BOOT_SIGNATURE]);
      expect(gunzipSync(await buffer(await openExport(vm))).equals(image)).toBe(true);
    });

    if (hasQcow2) {
      inTime('exports a qcow2 image that needs no other file', async () => {
        const image = await buffer(await openExport(await stoppedVm(), 'qcow2'));
        expect(image.toString('latin1', 0, 4)).toBe('QFI\xfb');
        expect(image.readBigUInt64BE(8)).toBe(0n);
      });
    } else {
      inTime('refuses qcow2 with the reason', async () => {
        const vm = await stoppedVm();
        await expect(exports.check(vm, 'qcow2')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
        await expect(openExport(vm, 'qcow2')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      });
    }

    inTime('refuses a VM that runs', async () => {
      const vm = await harness.givenVm('Running');
      await expect(exports.check(vm, 'raw.gz')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(openExport(vm)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('frees the disk as soon as the reader leaves', async () => {
      const vm = await stoppedVm();
      const stream = await openExport(vm);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.on('error', () => undefined).destroy();
      await closed;
      await harness.backend.require('power').apply(vm, 'start');
      await recorder.untilVm(vm, ({ status }) => status === 'Running');
    });

    inTime('opens nothing for a reader who left earlier', async () => {
      const vm = await stoppedVm();
      await expect(openExport(vm, 'raw.gz', AbortSignal.abort())).rejects.toBeDefined();
      await harness.backend.require('power').apply(vm, 'start');
      await recorder.untilVm(vm, ({ status }) => status === 'Running');
    });

    inTime('knows no VM that does not exist', async () => {
      const missing = missingRef(harness);
      await expect(exports.check(missing, 'raw.gz')).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(openExport(missing)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable
        .require('diskExport')
        .check({ ...missingRef(harness), context: unreachable.context }, 'raw.gz');
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}
