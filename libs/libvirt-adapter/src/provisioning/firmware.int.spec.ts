import { access } from 'node:fs/promises';
import type { Backend, VmSpec } from '@headgate/domain-contracts';
import { InventoryRecorder, readUntil, recordingReporter } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { diskWithUnsignedLoader, LOADER_MESSAGE } from '../testing/unsigned-loader.js';

const MIB = 1024 ** 2;
/** The firmware takes long under software emulation. */
const BOOT_MS = 240_000;

async function whyFirmwareIsUnavailable(): Promise<string | undefined> {
  const missing = await whyLibvirtIsUnavailable();
  if (missing !== undefined) return missing;
  const libvirt = await LibvirtUnderTest.open();
  try {
    const spec = trustedVm(libvirt, 'https://host.example/a.img');
    const { refusals } = await libvirt.backend().require('provisioning').planCreate(spec);
    return refusals[0]?.reason;
  } finally {
    await libvirt.close();
  }
}

const trustedVm = (libvirt: LibvirtUnderTest, url: string): VmSpec => ({
  ref: libvirt.refOf(libvirt.freshName()),
  cpu: 1,
  memoryBytes: 256 * MIB,
  diskBytes: 8 * MIB,
  source: { kind: 'import', url },
  firmware: 'uefi-secure',
  tpm: true,
  start: true,
});

const missing = await whyFirmwareIsUnavailable();
const describeWithFirmware = missing === undefined ? describe : describe.skip;

describeWithFirmware(`the firmware of a VM${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let server: HttpServer;
  let backend: Backend;
  let recorder: InventoryRecorder;

  beforeEach(async () => {
    [libvirt, server] = [await LibvirtUnderTest.open(), await HttpServer.listen()];
    server.serve('/unsigned.img', await diskWithUnsignedLoader());
    backend = libvirt.backend();
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    await recorder?.stop();
    await server?.close();
    await libvirt?.close();
  }, 60_000);

  const boot = async (overrides: Partial<VmSpec>, pattern: RegExp) => {
    const spec = { ...trustedVm(libvirt, server.url('/unsigned.img')), ...overrides };
    await (await backend.require('provisioning').create(spec)).remaining?.(recordingReporter());
    const { stream, backlog } = await backend.require('consoles').openSerial(spec.ref);
    const output = await readUntil(stream, pattern, backlog.toString('latin1'));
    stream.destroy();
    return { ref: spec.ref, output };
  };

  test(
    'refuses an unsigned loader with Secure Boot, and leaves neither variables nor TPM state when the VM is deleted',
    async () => {
      const refusal = /BdsDxe: failed to load Boot\d+ [^\n]*PciRoot[^\n]*: (?:Access Denied|Security Violation)/;
      const { ref, output } = await boot({}, refusal);
      expect(output).not.toContain(LOADER_MESSAGE);
      const { uid } = await recorder.untilVm(ref, ({ status }) => status === 'Running');
      const tpmState = `/var/lib/libvirt/swtpm/${uid}`;
      await access(tpmState);
      expect((await libvirt.volumes()).filter((name) => name.endsWith('-nvram.fd'))).toHaveLength(1);
      await backend.require('provisioning').delete(ref);
      await expect(access(tpmState)).rejects.toThrow('ENOENT');
      expect(await libvirt.volumes()).toEqual([]);
    },
    BOOT_MS,
  );

  test(
    'starts an unsigned loader without Secure Boot',
    async () => {
      await boot({ firmware: 'uefi', tpm: false }, new RegExp(LOADER_MESSAGE));
    },
    BOOT_MS,
  );
});
