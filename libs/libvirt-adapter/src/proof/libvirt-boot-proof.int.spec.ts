import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, open as openFile, readdir, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Backend, BootProof, BootSpec, PortableVm, ProofDisk } from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { InventoryRecorder } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { POOL_NAME } from '../storage/storage-pool.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { DyingConnection } from '../testing/dying-connection.js';
import { writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { tinyGuest } from '../testing/tiny-guest.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;
const MAX_CHANGES = 40;
const MIB = 1024 ** 2;
const PASSWORD = 'correct horse battery';
const run = promisify(execFile);
const never = new AbortController().signal;

describeWithLibvirt(`Proofs on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let proof: BootProof;
  let recorder: InventoryRecorder;
  let handle: FileHandle;
  let reads = 0;

  const open = (connection?: LibvirtConnection): Backend => libvirt.backend(connection && { connection });
  const start = async (): Promise<void> => {
    backend = open();
    proof = backend.require('bootProof');
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    await start();
  });
  afterEach(async () => {
    await recorder?.stop();
    await handle?.close();
    await libvirt?.close();
  }, 60_000);

  const raw = async (image: string): Promise<ProofDisk> => {
    const path = join(libvirt.sharedDir, 'disk.raw');
    await run('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', image, path]);
    handle = await openFile(path);
    reads = 0;
    const { size } = await handle.stat();
    return {
      name: 'vda',
      sizeBytes: size,
      read: async (offset, length) => {
        reads++;
        return (await handle.read(Buffer.alloc(length), 0, length, offset)).buffer;
      },
    };
  };
  const tinyDisk = async (): Promise<ProofDisk> => raw(await tinyGuest());
  const idleDisk = async (text?: string): Promise<ProofDisk> => {
    const image = join(libvirt.sharedDir, 'idle.qcow2');
    await writeIdleDisk(image, text);
    return raw(image);
  };
  /** The same disk in a repository of restic. */
  const stored = async ({ name, sizeBytes, read }: ProofDisk): Promise<ProofDisk> => {
    const target = new DirectoryTarget(join(libvirt.sharedDir, 'repository'));
    const repository = await ResticRepository.create(target, PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const { id } = await repository.backup(
      { hostname: 'here', paths: ['/vm'], tags: [], time: new Date() },
      async (writer) => void (await writer.file('vda.raw', { size: sizeBytes, read })),
    );
    // Without the cache of the writer.
    const file = await (await ResticRepository.open(target, PASSWORD)).openFile(id, '/vda.raw');
    return { name, sizeBytes, read: async (offset, length) => Buffer.from(await file.read(offset, length)) };
  };
  const vmOf = ({ name, sizeBytes }: ProofDisk): PortableVm => ({
    cpu: 1,
    memoryBytes: 256 * MIB,
    arch: 'x86_64',
    firmware: 'bios',
    tpm: false,
    autostart: true,
    tags: [],
    disks: [{ name, sizeBytes, usedBytes: null, bus: 'virtio' }],
    nics: [{ name: 'nic', network: 'default', mac: '52:54:00:00:00:01', model: 'virtio' }],
  });
  const specOf = (disk: ProofDisk, more: Partial<BootSpec> = {}): BootSpec => ({
    id: randomUUID(),
    vm: vmOf(disk),
    disks: [disk],
    timeLimitMs: 180_000,
    ...more,
  });
  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const leftovers = async (): Promise<string[]> => {
    const domains = (await virsh('list', '--all', '--name')).split('\n').filter((name) => name !== '');
    await virsh('pool-refresh', POOL_NAME);
    const volumes = (await virsh('vol-list', POOL_NAME)).split('\n').filter((line) => line.includes('proof-'));
    const marks = await readdir(join(libvirt.dataDir, 'libvirt', 'local', 'proofs')).catch(() => []);
    return [...domains, ...volumes, ...marks];
  };

  test(
    "the tiny guest boots from a repository, and the operator's command runs in it without a network",
    async () => {
      const disk = await stored(await tinyDisk());
      const command = { path: '/bin/sh', args: ['-c', 'echo "up: $(ls /sys/class/net)"'] };
      const outcome = await proof.boot(specOf(disk, { command }), never);
      expect(outcome).toMatchObject({ sign: { kind: 'command', exitCode: 0, output: 'up: lo' } });
      expect(outcome.problem).toBeUndefined();
      expect(outcome.readBytes).toBeLessThan(disk.sizeBytes);
      expect(outcome.picture?.length).toBeGreaterThan(1000);
      expect(await leftovers()).toEqual([]);
    },
    BOOT_MS,
  );

  test('damage in a repository fails the boot, and names the blob', async () => {
    const disk = await stored(await idleDisk());
    const data = join(libvirt.sharedDir, 'repository', 'data');
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const content = await readFile(path);
      // The block with the boot sector may be anywhere, and takes few bytes.
      for (let at = 0; at < content.length; at += 32) content[at] = (content[at] ?? 0) ^ 1;
      await rm(path);
      await writeFile(path, content);
    }
    const outcome = await proof.boot(specOf(disk), never);
    expect(outcome.problem).toMatch(/^The disk vda of the backup can't be read: .*blob [0-9a-f]{64}/);
    expect(await leftovers()).toEqual([]);
  });

  test('a guest with a login prompt is up, isolated, and hidden, and nothing is left of it', async () => {
    const disk = await idleDisk('\x1b[Hweb login: ');
    let xml: string | undefined;
    const id = randomUUID();
    const read: ProofDisk['read'] = async (offset, length) => {
      xml ??= await virsh('dumpxml', id).catch(() => undefined);
      return disk.read(offset, length);
    };
    const before = await readFile(join(libvirt.sharedDir, 'disk.raw'));
    const outcome = await proof.boot(specOf({ ...disk, read }, { id }), never);
    expect(outcome).toMatchObject({ sign: { kind: 'prompt', text: 'web login:' } });
    expect(outcome.problem).toBeUndefined();
    expect(outcome.picture?.toString('latin1', 1, 4)).toBe('PNG');
    expect(await leftovers()).toEqual([]);
    expect(recorder.calls.filter((call) => call !== 'listed')).toEqual([]);
    expect(xml).toContain(`<name>headgate-proof-${id}</name>`);
    expect(xml).not.toMatch(/<interface|<hostdev|<filesystem|<shmem|<redirdev/);
    expect(xml).toContain("protocol='nbd' name='disk0'");
    expect(before.equals(await readFile(join(libvirt.sharedDir, 'disk.raw')))).toBe(true);
  });

  test('a guest that shows no sign fails in time, with a picture', async () => {
    const outcome = await proof.boot(specOf(await idleDisk(), { timeLimitMs: 1500 }), never);
    expect(outcome.problem).toMatch(/^The guest did not boot: 1.5 s/);
    expect(outcome.picture).toBeDefined();
    expect(await leftovers()).toEqual([]);
  });

  test('a damaged disk fails at once, with the reason', async () => {
    const disk = await idleDisk();
    const read = (): Promise<Buffer> => Promise.reject(new Error('blob 1234 is damaged'));
    const outcome = await proof.boot(specOf({ ...disk, read }), never);
    expect(outcome.problem).toBe("The disk vda of the backup can't be read: blob 1234 is damaged");
    expect(await leftovers()).toEqual([]);
  });

  test('a proof that is canceled, and one of a service that stops, leave nothing behind', async () => {
    const disk = await idleDisk();
    const cancel = new AbortController();
    const canceled = proof.boot(specOf(disk), cancel.signal);
    await expectRead(() => reads > 0);
    cancel.abort(new Error('canceled'));
    await expect(canceled).rejects.toThrow('canceled');
    expect(await leftovers()).toEqual([]);
    reads = 0;
    const stopped = expect(proof.boot(specOf(disk), never)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expectRead(() => reads > 0);
    await recorder.stop();
    await backend.close();
    await stopped;
    expect(await leftovers()).toEqual([]);
  });

  test('two proofs run at a time, and no third one', async () => {
    const disk = await idleDisk();
    const cancel = new AbortController();
    const started = new Set<number>();
    const running = [1, 2].map((number) => {
      const read: ProofDisk['read'] = (offset, length) => {
        started.add(number);
        return disk.read(offset, length);
      };
      return expect(proof.boot(specOf({ ...disk, read }), cancel.signal)).rejects.toThrow('enough');
    });
    await expectRead(() => started.size === 2);
    await expect(proof.boot(specOf(disk), never)).rejects.toMatchObject({ code: 'BUSY' });
    cancel.abort(new Error('enough'));
    await Promise.all(running);
    expect(await leftovers()).toEqual([]);
  });

  test(
    'a service that was killed at any moment leaves nothing after its next start, and other guests stay',
    async () => {
      const disk = await idleDisk();
      const other = `headgate-proof-${randomUUID()}`;
      await libvirt.define(foreignDomainXml({ name: other, disks: fileDisk(join(libvirt.sharedDir, 'idle.qcow2')) }));
      await virsh('start', other);
      await recorder.until(() => [...recorder.instances.keys()].some((ref) => ref.includes(other)));
      let steps = 0;
      for (let last = 0; last < MAX_CHANGES; last++) {
        const dying = new DyingConnection(new RpcLibvirt({ uri: TEST_URI }), last);
        const victim = open(dying.open());
        await victim
          .require('bootProof')
          .boot(specOf(disk, { timeLimitMs: 300 }), never)
          .catch(() => undefined);
        await victim.close();
        await recorder.stop();
        await backend.close();
        await start();
        await until(async () => (await leftovers()).every((name) => name === other));
        if (!dying.isDead) break;
        steps++;
      }
      expect(steps).toBeGreaterThan(4);
      expect(await virsh('domstate', other)).toBe('running');
      await virsh('destroy', other);
      await virsh('undefine', other);
    },
    BOOT_MS,
  );

  test('virsh takes the same picture', async () => {
    const through = open(
      new VirshConnection({ uri: TEST_URI, createTemporaryFolder: () => mkdtemp(join(libvirt.sharedDir, 'virsh-')) }),
    );
    const outcome = await through.require('bootProof').boot(specOf(await idleDisk(), { timeLimitMs: 1500 }), never);
    expect(outcome.problem).toMatch(/^The guest did not boot/);
    expect(outcome.picture).toBeDefined();
    expect(await leftovers()).toEqual([]);
  });
});

const expectRead = (isMet: () => boolean): Promise<void> => until(async () => isMet());

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 20));
}
