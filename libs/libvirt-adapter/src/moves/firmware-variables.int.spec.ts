import { randomUUID } from 'node:crypto';
import {
  copyDisk,
  type Backend,
  type DiskIngest,
  type DiskSource,
  type IngestSpec,
  type VmSpec,
} from '@headgate/domain-contracts';
import { InventoryRecorder, readUntil, recordingReporter } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { diskWithUnsignedLoader, LOADER_MESSAGE } from '../testing/unsigned-loader.js';

const MIB = 1024 ** 2;
/** The firmware takes long under software emulation. */
const BOOT_MS = 240_000;

const uefiVm = (libvirt: LibvirtUnderTest, url: string): VmSpec => ({
  ref: libvirt.refOf(libvirt.freshName()),
  cpu: 1,
  memoryBytes: 256 * MIB,
  diskBytes: 8 * MIB,
  source: { kind: 'import', url },
  firmware: 'uefi',
  tpm: false,
  os: 'win10',
  start: true,
});

async function whyFirmwareIsUnavailable(): Promise<string | undefined> {
  const missing = await whyLibvirtIsUnavailable();
  if (missing !== undefined) return missing;
  const libvirt = await LibvirtUnderTest.open();
  try {
    const { refusals } = await libvirt
      .backend()
      .require('provisioning')
      .planCreate(uefiVm(libvirt, 'https://host.example/a.img'));
    return refusals[0]?.reason;
  } finally {
    await libvirt.close();
  }
}

const missing = await whyFirmwareIsUnavailable();
const describeWithFirmware = missing === undefined ? describe : describe.skip;
const title = 'the variables of a firmware that are copied';

describeWithFirmware(`${title}${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  const never = new AbortController().signal;
  let libvirt: LibvirtUnderTest;
  let server: HttpServer;
  let backend: Backend;
  let recorder: InventoryRecorder;
  let source: DiskSource;
  let ingest: DiskIngest;

  beforeEach(async () => {
    [libvirt, server] = [await LibvirtUnderTest.open(), await HttpServer.listen()];
    server.serve('/unsigned.img', await diskWithUnsignedLoader());
    backend = libvirt.backend();
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
    source = backend.require('diskSource');
    ingest = backend.require('diskIngest');
  });
  afterEach(async () => {
    await recorder?.stop();
    await server?.close();
    await libvirt?.close();
  }, 60_000);

  const untilLoader = async ({ ref }: Pick<VmSpec, 'ref'>): Promise<void> => {
    const { stream, backlog } = await backend.require('consoles').openSerial(ref);
    await readUntil(stream, new RegExp(LOADER_MESSAGE), backlog.toString('latin1'));
    stream.destroy();
  };
  const nvrams = async (): Promise<string[]> =>
    (await libvirt.volumes()).filter((name) => name.endsWith('-nvram.fd')).sort();

  test(
    'are those with which the copy boots, and are removed with it',
    async () => {
      const spec = uefiVm(libvirt, server.url('/unsigned.img'));
      await (await backend.require('provisioning').create(spec)).remaining?.(recordingReporter());
      await untilLoader(spec);
      await expect(source.readFirmwareVariables(spec.ref)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await backend.require('power').apply(spec.ref, 'stop', { force: true });
      await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');

      const { vm } = await source.describe(spec.ref);
      const stored = await source.readFirmwareVariables(spec.ref);
      expect(vm).toMatchObject({ firmware: 'uefi', os: 'win10', firmwareVariables: { sizeBytes: stored.length } });
      // The boot entry of the loader is in UTF-16.
      expect(stored.includes(Buffer.from('BootOrder', 'utf16le'))).toBe(true);

      const copy: IngestSpec = {
        id: randomUUID(),
        ref: libvirt.refOf(libvirt.freshName()),
        vm,
        mapping: { networks: {}, storageClasses: {} },
      };
      const plan = await ingest.plan(copy);
      expect([plan.refusals, plan.losses, plan.firmwareVariables]).toEqual([[], [], true]);
      const other = { ...copy, vm: { ...vm, firmwareVariables: { sizeBytes: stored.length + 1 } } };
      expect((await ingest.plan(other)).firmwareVariables).toMatch(/different build/);

      await ingest.begin(copy);
      await ingest.writeFirmwareVariables(copy, Buffer.from('an attempt that was interrupted'));
      await ingest.discard(copy);
      expect(await nvrams()).toHaveLength(1);
      await ingest.begin(copy);
      await ingest.writeFirmwareVariables(copy, Buffer.from('an attempt that was interrupted'));
      await ingest.writeFirmwareVariables(copy, stored);
      expect((await ingest.readFirmwareVariables(copy)).equals(stored)).toBe(true);
      for (const { name } of vm.disks)
        await copyDisk(
          await source.open(spec.ref, name, never),
          await ingest.write(copy, name, never),
          () => undefined,
        );
      await ingest.commit(copy);
      await expect(ingest.writeFirmwareVariables(copy, stored)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await recorder.untilVm(copy.ref, ({ status }) => status === 'Stopped');
      expect((await source.describe(copy.ref)).vm).toMatchObject({ os: 'win10', firmware: 'uefi' });
      expect((await source.readFirmwareVariables(copy.ref)).equals(stored)).toBe(true);

      await backend.require('power').apply(copy.ref, 'start');
      await untilLoader(copy);
      expect(await nvrams()).toHaveLength(2);
      await backend.require('provisioning').delete(copy.ref);
      expect(await nvrams()).toHaveLength(1);
      await backend.require('provisioning').delete(spec.ref);
      expect(await libvirt.volumes()).toEqual([]);
    },
    BOOT_MS,
  );
});
