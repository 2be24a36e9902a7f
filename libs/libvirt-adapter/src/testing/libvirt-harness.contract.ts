import { SystemClock, type Backend, type InstanceRef } from '@headgate/domain-contracts';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readUntil, InventoryRecorder, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { fileDisk, foreignDomainXml } from './domain-xml.js';
import { LibvirtUnderTest } from './libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from './tiny-guest.js';

/** The harness of the contract suites over real libvirt, reached in the given way. VMs that are created outside the adapter boot the tiny guest. */
export async function openHarness(connection?: () => LibvirtConnection): Promise<BackendHarness> {
  const libvirt = await LibvirtUnderTest.open();
  const image = await tinyGuest();
  const backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image), connection: connection?.() });
  const recorder = InventoryRecorder.over(backend.require('inventory'));
  await recorder.whenListed();

  return {
    backend,
    freshRef: () => libvirt.refOf(libvirt.freshName()),
    givenVm: async (state, { booted = false } = {}) => {
      const ref = libvirt.refOf(libvirt.freshName());
      const disk = join(libvirt.sharedDir, `${ref.name}.qcow2`);
      await copyFile(image, disk);
      await libvirt.define(
        foreignDomainXml({ name: ref.name, disks: fileDisk(disk), log: join(libvirt.sharedDir, `${ref.name}.log`) }),
      );
      if (state !== 'Stopped') {
        await libvirt.virsh.run(['start', ref.name]);
        await recorder.untilVm(ref, ({ status }) => status === 'Running');
        if (booted) await untilPrompt(backend, ref);
      }
      if (state === 'Paused') await libvirt.virsh.run(['suspend', ref.name]);
      await recorder.untilVm(ref, ({ status }) => status === state);
      return ref;
    },
    givenNetworks: () => libvirt.createNetworks(),
    givenStorage: () => libvirt.createPool(),
    removeSeed: async (ref) => void (await libvirt.virsh.run(['detach-disk', ref.name, 'vdb', '--config'])),
    deleteExternally: async (ref) => {
      await libvirt.virsh.run(['destroy', ref.name]).catch(() => undefined);
      await libvirt.virsh.run(['undefine', ref.name, '--checkpoints-metadata']);
    },
    quickSource: () => Promise.resolve({ kind: 'image', entry: TINY_ENTRY }),
    imageOrigin: async () => {
      const file = join(libvirt.sharedDir, `${libvirt.freshName()}.upload`);
      await copyFile(image, file);
      return { kind: 'upload', file };
    },
    openUnreachable: async () =>
      LibvirtBackend.open({
        context: 'gone',
        uri: 'qemu+unix:///system?socket=/nonexistent/libvirt-sock',
        dataDir: libvirt.dataDir,
        clock: new SystemClock(),
        accelerator: () => Promise.resolve('tcg'),
      }),
    tidy: () => libvirt.removeDomains(),
    close: async () => {
      await recorder.stop();
      await libvirt.close();
    },
  };
}

async function untilPrompt(backend: Backend, ref: InstanceRef): Promise<void> {
  const { stream, backlog } = await backend.require('consoles').openSerial(ref);
  const printed = backlog.toString('latin1');
  if (!/login: /.test(printed)) await readUntil(stream, /login: /, printed);
  stream.destroy();
}
