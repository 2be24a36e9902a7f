import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  DomainError,
  messageOf,
  SystemClock,
  type Backend,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';
import { readUntil, InventoryRecorder, recordingReporter } from '@headgate/testing';
import { HttpServer, layerOf, serveImage } from '@headgate/downloads/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, TINY_LOGIN, tinyGuest } from '../testing/tiny-guest.js';
import { untilPrinted } from '../testing/until-printed.js';
import { POOL_NAME } from '../storage/storage-pool.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const BOOT_MS = 240_000;

describeWithLibvirt(`LibvirtProvisioning on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let server: HttpServer;
  let backend: Backend;
  let recorder: InventoryRecorder;
  let image: string;

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => {
    [libvirt, server] = [await LibvirtUnderTest.open(), await HttpServer.listen()];
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    await recorder?.stop();
    await server?.close();
    await libvirt?.close();
  }, 60_000);

  const spec = (source: VmSource, overrides: Partial<VmSpec> = {}): VmSpec => ({
    ref: libvirt.refOf(libvirt.freshName()),
    cpu: 1,
    memoryBytes: 192 * MIB,
    diskBytes: 128 * MIB,
    source,
    start: false,
    ...overrides,
  });
  const tiny: VmSource = { kind: 'image', entry: TINY_ENTRY };
  const create = async (wanted: VmSpec) => {
    const report = recordingReporter();
    await (await backend.require('provisioning').create(wanted)).remaining?.(report);
    return report;
  };
  const boot = async ({ ref }: VmSpec) => {
    await backend.require('power').apply(ref, 'start');
    return backend.require('consoles').openSerial(ref);
  };
  const expectNothingLeft = async (): Promise<void> => {
    expect(await libvirt.domains()).toEqual([]);
    expect(await libvirt.volumes()).toEqual([]);
  };

  test(
    'creates a tiny VM that boots, reads its seed, accepts a login on its serial console, and leaves nothing when it is deleted',
    async () => {
      const wanted = spec(tiny, { start: true, cloudInit: '#cloud-config\nhostname: seeded\n' });
      await create(wanted);
      const { uid } = await recorder.untilVm(wanted.ref, ({ status }) => status === 'Running');
      const { stream, backlog } = await backend.require('consoles').openSerial(wanted.ref);
      const boot = await readUntil(stream, /seeded login: /, backlog.toString('latin1'));
      expect(boot).toContain('Linux version');
      stream.write(`${TINY_LOGIN.user}\r`);
      await readUntil(stream, /Password: /);
      stream.destroy();

      await untilPrinted(libvirt.virsh, wanted.ref, /seeded login: /);
      const again = await backend.require('consoles').openSerial(wanted.ref);
      expect(again.backlog.toString('latin1')).toContain('seeded login: ');
      again.stream.destroy();

      await recorder.untilVm(wanted.ref, ({ agentConnected, ip }) => agentConnected && ip !== undefined);
      // The guest has read its seed, so the disc with the password goes, also from the running guest.
      const clock = new SystemClock();
      while ((await libvirt.volumes()).some((name) => name.endsWith('-seed.iso'))) await clock.delay(500);
      for (const scope of [[], ['--inactive']]) {
        const { disks } = describeDomain(await libvirt.virsh.run(['dumpxml', uid, ...scope]));
        expect(disks.map(({ target }) => target)).toEqual(['vda']);
      }
      const { stream: rebooting } = await backend.require('consoles').openSerial(wanted.ref);
      await backend.require('power').apply(wanted.ref, 'restart');
      await readUntil(rebooting, /Linux version[^]*seeded login: /);
      rebooting.destroy();
      expect(recorder.vm(wanted.ref)).toMatchObject({ restartRequired: false });
      await recorder.untilVm(wanted.ref, ({ agentConnected }) => agentConnected);
      await backend.require('power').apply(wanted.ref, 'stop');
      const stopped = await recorder.untilVm(wanted.ref, ({ status }) => status === 'Stopped');
      expect(stopped).not.toHaveProperty('ip');
      expect(stopped).not.toHaveProperty('node');

      const { serial } = describeDomain(await libvirt.virsh.run(['dumpxml', uid]));
      await backend.require('provisioning').delete(wanted.ref);
      await expectNothingLeft();
      await expect(access(serial?.path ?? '')).rejects.toThrow('ENOENT');
    },
    BOOT_MS,
  );

  test(
    'creates a VM from the raw disk that was built from a bootc image, and needs the file no longer',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'headgate-built-'));
      try {
        const disk = join(folder, 'disk.raw');
        await promisify(execFile)('qemu-img', ['convert', '-O', 'raw', image, disk]);
        const wanted = spec({ kind: 'bootc', image: 'registry.example/os:1', disk });
        await create(wanted);
        await rm(disk);
        await recorder.untilVm(wanted.ref, ({ status }) => status === 'Stopped');
        const { backlog, stream } = await boot(wanted);
        expect(await readUntil(stream, /Linux version/, backlog.toString('latin1'))).toContain('Linux version');
        stream.destroy();
        await backend.require('provisioning').delete(wanted.ref);
        await expectNothingLeft();
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    BOOT_MS,
  );

  test('pulls a container disk from a registry', async () => {
    serveImage(server, 'lab/tiny', [
      gzipSync(await layerOf({ 'disk/tiny.qcow2': await readFile(image) }), { level: 1 }),
    ]);
    const wanted = spec({ kind: 'containerDisk', image: `${server.host}/lab/tiny` });
    const { remaining } = await backend.require('provisioning').create(wanted);
    await recorder.untilVm(
      wanted.ref,
      ({ status, diskBytes }) => status === 'Provisioning' && diskBytes === wanted.diskBytes,
    );
    await expect(backend.require('power').apply(wanted.ref, 'start')).rejects.toMatchObject({ code: 'BUSY' });
    const report = recordingReporter();
    await remaining?.(report);
    await recorder.untilVm(
      wanted.ref,
      ({ status, diskBytes }) => status === 'Stopped' && diskBytes === wanted.diskBytes,
    );
    expect(report.steps.length).toBeGreaterThan(2);
    expect(report.fractions.at(-1)).toBe(1);
  });

  test('creates the disk from a cloud image only if it has the checksum of its publisher', async () => {
    const content = await readFile(image);
    const hex = createHash('sha256').update(content).digest('hex');
    const download = { url: server.url('/tiny.qcow2'), checksums: server.url('/CHECKSUM') };
    const entry = {
      name: 'cloud',
      description: '',
      containerDisk: '',
      defaultUser: '',
      cloudImages: { x86_64: download, aarch64: download },
    };
    server.serve('/tiny.qcow2', content);
    server.serve('/CHECKSUM', `SHA256 (tiny.qcow2) = ${'0'.repeat(64)}\n`);
    await expect(create(spec({ kind: 'image', entry }))).rejects.toMatchObject({
      message: expect.stringContaining(hex),
    });
    server.serve('/CHECKSUM', `SHA256 (tiny.qcow2) = ${hex}\n`);
    for (const requests of [['/CHECKSUM', '/tiny.qcow2'], ['/CHECKSUM']]) {
      server.requests.length = 0;
      const wanted = spec({ kind: 'image', entry });
      await create(wanted);
      await recorder.untilVm(wanted.ref, ({ status, diskBytes }) => status === 'Stopped' && diskBytes === 128 * MIB);
      expect(server.requests).toEqual(requests);
    }
  });

  test('imports an image from a URL, and an installation ISO with a blank disk', async () => {
    server.serve('/tiny.qcow2', await readFile(image));
    server.serve('/installer.iso', isoImage());
    const [imported, installed] = [
      spec({ kind: 'import', url: server.url('/tiny.qcow2') }),
      spec({ kind: 'iso', url: server.url('/installer.iso') }),
    ];
    await create(imported);
    await create(installed);
    for (const { ref } of [imported, installed]) {
      await recorder.untilVm(ref, ({ status, diskBytes }) => status === 'Stopped' && diskBytes === 128 * MIB);
      await backend.require('provisioning').delete(ref);
    }
    await expectNothingLeft();
  });

  test('stores the image of several VMs once, and removes it only when no disk is based on it', async () => {
    server.serve('/tiny.qcow2', await readFile(image), { etag: '"v1"' });
    const source: VmSource = { kind: 'import', url: server.url('/tiny.qcow2') };
    const [first, second] = [spec(source), spec(source, { diskBytes: 256 * MIB })];
    await Promise.all([create(first), create(second)]);
    const bases = await libvirt.baseImages();
    expect(bases).toHaveLength(1);
    const disks = (await libvirt.volumes()).filter((name) => name.endsWith('.qcow2'));
    expect(disks).toHaveLength(2);
    for (const disk of disks) {
      const xml = await libvirt.virsh.run(['vol-dumpxml', disk, '--pool', POOL_NAME]);
      expect(xml).toContain(`${bases[0]}</path>`);
      expect(Number(/<allocation unit='bytes'>(\d+)</.exec(xml)?.[1])).toBeLessThan(MIB);
    }

    const pool = /<path>([^<]+)</.exec(await libvirt.virsh.run(['pool-dumpxml', POOL_NAME]))?.[1] ?? '';
    const isOpenToOthers = async (name = ''): Promise<boolean> => ((await stat(join(pool, name))).mode & 0o077) !== 0;
    expect(await isOpenToOthers(bases[0])).toBe(false);
    const provisioning = backend.require('provisioning');
    await expect(create(spec({ kind: 'pvc', claim: bases[0] ?? '' }))).rejects.toMatchObject({ code: 'CONFLICT' });
    await provisioning.delete(first.ref);
    expect(await libvirt.reclaim()).toBe(0);
    await backend.require('power').apply(second.ref, 'start');
    await recorder.untilVm(second.ref, ({ status }) => status === 'Running');
    expect(await isOpenToOthers(bases[0])).toBe(false);
    await provisioning.delete(second.ref);
    await libvirt.virsh.run([
      ...['vol-create-as', POOL_NAME, `${libvirt.prefix}-foreign.qcow2`, '256M', '--format', 'qcow2'],
      ...['--backing-vol', bases[0] ?? '', '--backing-vol-format', 'qcow2'],
    ]);
    expect(await libvirt.reclaim()).toBe(0);
    await libvirt.virsh.run(['vol-delete', `${libvirt.prefix}-foreign.qcow2`, '--pool', POOL_NAME]);
    expect(await libvirt.reclaim()).toBe(1);
    expect(await libvirt.baseImages()).toEqual([]);
  });

  test('downloads a file again whose version has changed', async () => {
    server.serve('/tiny.qcow2', await readFile(image), { etag: '"v1"' });
    const source: VmSource = { kind: 'import', url: server.url('/tiny.qcow2') };
    await create(spec(source));
    server.serve('/tiny.qcow2', await readFile(image), { etag: '"v2"' });
    await create(spec(source));
    expect(await libvirt.baseImages()).toHaveLength(2);
  });

  test('rounds odd sizes, so that a running VM needs no restart', async () => {
    const wanted = spec(tiny, { memoryBytes: 200_000_001, diskBytes: 70_000_001, start: true });
    await create(wanted);
    const vm = await recorder.untilVm(wanted.ref, ({ status }) => status === 'Running');
    expect(vm).toMatchObject({ memoryBytes: 192 * MIB, diskBytes: 67 * MIB, restartRequired: false });
    const growing = spec(tiny, { memoryBytes: 1024 * MIB, start: true, autostart: true });
    await create(growing);
    const grown = await recorder.untilVm(growing.ref, ({ status }) => status === 'Running');
    expect(grown).toMatchObject({ cpu: 1, memoryBytes: 1024 * MIB, restartRequired: false });
    const xml = await libvirt.virsh.run(['dumpxml', grown.uid]);
    expect(xml).toContain('<maxMemory');
    expect(await libvirt.virsh.run(['dominfo', grown.uid])).toMatch(/^Autostart:\s+enable/m);
  });

  test('keeps a VM whose import failed, with the reason and without a disk, until it is deleted', async () => {
    const backed = join(libvirt.sharedDir, 'backed.qcow2');
    await promisify(execFile)('qemu-img', [
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'raw',
      '-b',
      '/etc/hostname',
      backed,
      '64M',
    ]);
    server.serve('/backed.qcow2', await readFile(backed));
    server.serve('/tiny.qcow2', await readFile(image));
    server.routes.set('/cut.img', (_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' });
      response.write(Buffer.alloc(1000), () => response.destroy());
    });
    const failed: [path: string, error: { code: string; message?: unknown }, overrides?: Partial<VmSpec>][] = [
      ['/backed.qcow2', { code: 'INVALID_SOURCE', message: expect.stringContaining('backing file') }],
      ['/text.img', { code: 'INVALID_SOURCE' }],
      ['/cut.img', { code: 'BACKEND_UNREACHABLE' }],
      ['/none.img', { code: 'INVALID_SOURCE' }],
      ['/tiny.qcow2', { code: 'INVALID_QUANTITY', message: expect.stringContaining('62Mi') }, { diskBytes: 8 * MIB }],
    ];
    server.serve('/text.img', 'This is not an image.\n'.repeat(1000));
    const provisioning = backend.require('provisioning');
    for (const [path, error, overrides] of failed) {
      const wanted = spec({ kind: 'import', url: server.url(path) }, overrides);
      const cause = await create(wanted).catch((thrown: unknown) => thrown);
      expect(cause).toMatchObject(error);
      const { reason, diskBytes } = await recorder.untilVm(wanted.ref, ({ status }) => status === 'DataVolumeError');
      expect({ reason, diskBytes }).toEqual({ reason: (cause as Error).message, diskBytes: wanted.diskBytes });
      expect(await libvirt.volumes()).toEqual([]);
      await expect(backend.require('power').apply(wanted.ref, 'start')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await provisioning.delete(wanted.ref);
    }
    const text = spec({ kind: 'iso', url: server.url('/text.img') });
    await expect(create(text)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    await provisioning.delete(text.ref);
    await expectNothingLeft();
  });

  test('shows the reason of an import that a hostile server ended, as plain text', async () => {
    const hostile = createServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 500 \u001b[2J\u202e\u0001gone\r\ncontent-length: 0\r\n\r\n')),
    ).listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    const { port } = hostile.address() as AddressInfo;
    const wanted = spec({ kind: 'import', url: `http://127.0.0.1:${port}/a.img` });
    const failure = await create(wanted).catch(messageOf);
    await new Promise((resolve) => hostile.close(resolve));
    const { reason } = await recorder.untilVm(wanted.ref, ({ status }) => status === 'DataVolumeError');
    expect(reason).toBe(failure);
    expect(reason).toMatch(/returned 500 .*gone/);
    expect(reason).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    await backend.require('provisioning').delete(wanted.ref);
    await expectNothingLeft();
  });

  test('says in its answer that a VM has no network card, because this machine runs no network', async () => {
    const failing = new RpcLibvirt({ uri: TEST_URI });
    const refuse = () => Promise.reject(new DomainError('BACKEND_FAILED', 'There are no bridges.'));
    const networks = { list: async () => [], define: refuse, undefine: refuse, start: refuse, enableAutostart: refuse };
    const connection = new Proxy<LibvirtConnection>(failing, {
      get: (target, name) => (name === 'networks' ? networks : (Reflect.get(target, name) as unknown)),
    });
    const lonely = libvirt.backend({ tinyGuest: () => Promise.resolve(image), connection }).require('provisioning');
    const wanted = spec(tiny);
    expect((await lonely.planCreate(wanted)).warnings).toContainEqual(expect.stringContaining('no network card'));
    const { remaining, warnings } = await lonely.create(wanted);
    await remaining?.(recordingReporter());
    expect(warnings).toEqual([expect.stringContaining('no network card')]);
    expect(describeDomain(await libvirt.virsh.run(['dumpxml', wanted.ref.name])).nics).toEqual([]);
  });

  test('stops an import when its VM is deleted', async () => {
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    server.routes.set('/slow.img', (_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' });
      response.write(Buffer.alloc(1000), isAsked);
    });
    const wanted = spec({ kind: 'import', url: server.url('/slow.img') });
    const work = create(wanted);
    const failure = expect(work).rejects.toMatchObject({ code: 'CONFLICT' });
    await asked;
    await backend.require('provisioning').delete(wanted.ref);
    await failure;
    await expectNothingLeft();
  });

  test('marks VMs that its own earlier run left incomplete, and none of another service', async () => {
    const wanted = spec({ kind: 'import', url: server.url('/never.img') });
    await backend.require('provisioning').create(wanted);
    await recorder.untilVm(wanted.ref, ({ status }) => status === 'Provisioning');

    const stranger = InventoryRecorder.over(libvirt.backend({ dataDir: libvirt.sharedDir }).require('inventory'));
    await stranger.untilVm(wanted.ref, ({ status }) => status === 'Provisioning');
    await stranger.stop();
    expect(await libvirt.domains()).toEqual([wanted.ref.name]);

    const downloads = join(libvirt.dataDir, 'libvirt/local/fetching');
    await mkdir(join(downloads, 'image-killed'), { recursive: true });
    const restarted = InventoryRecorder.over(libvirt.backend().require('inventory'));
    await restarted.whenListed();
    const vm = await restarted.untilVm(wanted.ref, ({ status }) => status === 'DataVolumeError');
    expect(vm.reason).toContain('interrupted');
    await restarted.stop();
    // They are removed while the list is read.
    while ((await readdir(downloads)).length > 0) await new SystemClock().delay(50);
    expect(await libvirt.volumes()).toEqual([]);
    await backend.require('provisioning').delete(wanted.ref);
    await expectNothingLeft();
  });

  test('uses an existing volume for one VM only, and keeps it when that VM is deleted', async () => {
    const claim = libvirt.freshName();
    await libvirt.virsh.run(['vol-create-as', POOL_NAME, `${claim}.qcow2`, String(64 * MIB), '--format', 'qcow2']);
    const [first, second] = [spec({ kind: 'pvc', claim }), spec({ kind: 'pvc', claim })];
    await create(first);
    await expect(create(second)).rejects.toMatchObject({ code: 'BUSY' });
    const { warnings } = await backend.require('provisioning').planDelete(first.ref);
    expect(warnings.join()).toContain(`${claim}.qcow2`);
    await backend.require('provisioning').delete(first.ref);
    expect(await libvirt.volumes()).toEqual([`${claim}.qcow2`]);
  });

  test('deletes a foreign domain and keeps its disk', async () => {
    const disk = join(libvirt.sharedDir, 'theirs.qcow2');
    await copyFile(image, disk);
    const ref = libvirt.refOf(libvirt.freshName());
    await libvirt.define(foreignDomainXml({ name: ref.name, disks: fileDisk(disk) }));
    await backend.require('provisioning').delete(ref);
    expect(await libvirt.domains()).toEqual([]);
    await access(disk);
  });

  test('names the missing disk', async () => {
    const wanted = spec(tiny);
    await create(wanted);
    const [disk = ''] = (await libvirt.volumes()).filter((name) => name.endsWith('.qcow2'));
    await libvirt.virsh.run(['vol-delete', disk, '--pool', POOL_NAME]);
    await expect(backend.require('power').apply(wanted.ref, 'start')).rejects.toMatchObject({
      code: 'VOLUME_NOT_FOUND',
      message: expect.stringContaining(disk),
    });
    await backend.require('provisioning').delete(wanted.ref);
    await expectNothingLeft();
  });
});

/** The smallest file that is recognized as an ISO image. */
function isoImage(): Buffer {
  const image = Buffer.alloc(2 * MIB);
  image.write('CD001', 32_769);
  return image;
}
