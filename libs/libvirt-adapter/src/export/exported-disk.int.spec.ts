import { buffer } from 'node:stream/consumers';
import type { Backend, ExportFormat, GuestCommandResult, InstanceRef, VmSpec } from '@headgate/domain-contracts';
import { InventoryRecorder, readUntil, recordingReporter } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const BOOT_MS = 240_000;

describeWithLibvirt(`an exported disk${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let server: HttpServer;
  let backend: Backend;
  let recorder: InventoryRecorder;
  /** A stopped guest with a file of its own. */
  let first: InstanceRef;

  beforeAll(async () => {
    const image = await tinyGuest();
    [libvirt, server] = [await LibvirtUnderTest.open(), await HttpServer.listen()];
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
    first = await create({ source: { kind: 'image', entry: TINY_ENTRY }, start: true });
    await recorder.untilVm(first, ({ agentConnected }) => agentConnected);
    expect(await run(first, '/bin/sh', '-c', 'echo as it was > /root/kept; sync')).toMatchObject({ exitCode: 0 });
    await backend.require('power').apply(first, 'stop', { force: true });
    await recorder.untilVm(first, ({ status }) => status === 'Stopped');
  }, BOOT_MS);
  afterAll(async () => {
    await recorder?.stop();
    await libvirt?.close();
    await server?.close();
  }, BOOT_MS);

  const create = async (fields: Pick<VmSpec, 'source' | 'start'>): Promise<InstanceRef> => {
    const ref = libvirt.refOf(libvirt.freshName());
    const spec: VmSpec = { ref, cpu: 1, memoryBytes: 256 * MIB, diskBytes: 128 * MIB, ...fields };
    const { remaining } = await backend.require('provisioning').create(spec);
    await remaining?.(recordingReporter());
    await recorder.untilVm(ref, ({ status }) => status === (fields.start ? 'Running' : 'Stopped'));
    return ref;
  };

  const run = (ref: InstanceRef, path: string, ...args: string[]): Promise<GuestCommandResult> =>
    backend.require('guestControl').run(ref, { path, args, timeoutMs: 60_000 });

  const untilLogin = async (ref: InstanceRef): Promise<void> => {
    const { stream, backlog } = await backend.require('consoles').openSerial(ref);
    const printed = backlog.toString('latin1');
    if (!printed.includes('login: ')) await readUntil(stream, /login: /, printed);
    stream.destroy();
  };

  test.each<ExportFormat>(['raw.gz', 'qcow2'])(
    'boots after it was imported again, as %s, with the files of the first guest',
    async (format) => {
      const signal = new AbortController().signal;
      const image = await buffer(await backend.require('diskExport').open(first, format, signal));
      server.serve(`/exported.${format}`, image);
      const second = await create({ source: { kind: 'import', url: server.url(`/exported.${format}`) }, start: true });
      await untilLogin(second);
      await recorder.untilVm(second, ({ agentConnected }) => agentConnected);
      const kept = await run(second, '/bin/cat', '/root/kept');
      expect(kept).toMatchObject({ exitCode: 0, stdout: 'as it was\n' });
      await backend.require('provisioning').delete(second);
    },
    BOOT_MS,
  );
});
