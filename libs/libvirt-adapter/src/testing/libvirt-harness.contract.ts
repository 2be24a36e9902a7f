import { SystemClock } from '@headgate/domain-contracts';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InventoryRecorder, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { fileDisk, foreignDomainXml } from './domain-xml.js';
import { IDLE_DISK_BYTES, IDLE_TEXT, writeIdleDisk } from './idle-disk.js';
import { LibvirtUnderTest } from './libvirt-under-test.js';
import { readerGuest } from './reader-guest.js';
import { TINY_ENTRY, tinyGuest } from './tiny-guest.js';
import { untilPrinted } from './until-printed.js';

const clock = new SystemClock();

/**
 * The harness of the contract suites over real libvirt, reached in the given way. Only VMs of tests that need a booted
 * guest have an operating system.
 */
export async function openHarness(connection?: () => LibvirtConnection): Promise<BackendHarness> {
  const libvirt = await LibvirtUnderTest.open();
  const image = await tinyGuest();
  const idle = join(libvirt.sharedDir, 'idle.qcow2');
  await writeIdleDisk(idle);
  const backend = libvirt.backend({
    tinyGuest: () => Promise.resolve(idle),
    readerGuest: await readerGuest(),
    connection: connection?.(),
  });
  const recorder = InventoryRecorder.over(backend.require('inventory'));
  await recorder.whenListed();

  return {
    backend,
    freshRef: () => libvirt.refOf(libvirt.freshName()),
    givenVm: async (state, { booted = false } = {}) => {
      const ref = libvirt.refOf(libvirt.freshName());
      const disk = join(libvirt.sharedDir, `${ref.name}.qcow2`);
      await copyFile(booted ? image : idle, disk);
      await libvirt.define(
        foreignDomainXml({ name: ref.name, disks: fileDisk(disk), log: join(libvirt.sharedDir, `${ref.name}.log`) }),
      );
      if (state !== 'Stopped') {
        await libvirt.virsh.run(['start', ref.name]);
        await recorder.untilVm(ref, ({ status }) => status === 'Running');
        if (booted) await untilPrinted(libvirt.virsh, ref, /login: /);
      }
      if (state === 'Paused') await libvirt.virsh.run(['suspend', ref.name]);
      await recorder.untilVm(ref, ({ status }) => status === state);
      return ref;
    },
    givenNetworks: () => libvirt.createNetworks(),
    givenStorage: () => libvirt.createPool(),
    storageOf: async ({ name }) => {
      const volumes = await libvirt.poolVolumes();
      return volumes.some((volume) => volume.startsWith(`${name}-`)) ? libvirt.createPool() : undefined;
    },
    removeSeed: async (ref) => void (await libvirt.virsh.run(['detach-disk', ref.name, 'vdb', '--config'])),
    writeAsGuest: async ({ name }, { offset, length, byte }) => {
      const blocks = await libvirt.virsh.run([
        ...['qemu-monitor-command', name, '--pretty', '{"execute":"query-block"}'],
      ]);
      const qdev = /"qdev": "(\/machine\/peripheral\/virtio-disk0\/virtio-backend)"/.exec(blocks)?.[1] ?? '';
      const command = `qemu-io -d ${qdev} "write -P ${byte} ${offset} ${length}"`;
      const output = await libvirt.virsh.run(['qemu-monitor-command', name, '--hmp', command]);
      if (/rror/.test(output)) throw new Error(output);
    },
    deleteExternally: async (ref) => {
      await libvirt.virsh.run(['destroy', ref.name]).catch(() => undefined);
      await libvirt.virsh.run(['undefine', ref.name, '--checkpoints-metadata']);
    },
    diskBytes: 4 * IDLE_DISK_BYTES,
    quickSource: () => Promise.resolve({ kind: 'image', entry: TINY_ENTRY }),
    untilIdle: (ref, starts = 1) => untilPrinted(libvirt.virsh, ref, new RegExp(`(${IDLE_TEXT}[^]*){${starts}}`)),
    imageOrigin: async () => {
      const file = join(libvirt.sharedDir, `${libvirt.freshName()}.upload`);
      await copyFile(idle, file);
      return { kind: 'upload', file };
    },
    openUnreachable: async () =>
      LibvirtBackend.open({
        context: 'gone',
        uri: 'qemu+unix:///system?socket=/nonexistent/libvirt-sock',
        dataDir: libvirt.dataDir,
        clock,
        accelerator: () => Promise.resolve('tcg'),
      }),
    tidy: () => libvirt.removeDomains(),
    close: async () => {
      await recorder.stop();
      await libvirt.close();
    },
  };
}
