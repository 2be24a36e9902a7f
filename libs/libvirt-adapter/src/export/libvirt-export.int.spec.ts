import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { parseDomainState } from '../connection/domain-state.js';
import { runProgram, type RunProgram } from '../programs/run-program.js';
import { LibvirtExport } from './libvirt-export.js';
import { NbdServer } from './nbd-server.js';

const ref: InstanceRef = { kind: 'vm', context: 'local', namespace: 'local', name: 'web' };
const MIB = 1024 ** 2;
const execute = promisify(execFile);
const hasPrograms = (await runProgram('qemu-nbd', ['--version'], { timeoutMs: 60_000 })).code === 0;
const never = new AbortController().signal;

/** Waits for the greeting of a server that is starting. */
async function greetingOf(path: string): Promise<void> {
  for (;;) {
    const connection = connect(path);
    try {
      await once(connection, 'data');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      connection.destroy();
    }
  }
}

(hasPrograms ? describe : describe.skip)('the export of a disk of libvirt, with real programs of QEMU', () => {
  let folder: string;
  let content: Buffer;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-export-'));
    content = Buffer.alloc(9 * MIB);
    for (let at = 0; at < content.length; at += 3 * MIB) content.write(`part at ${at}`, at);
    // Data and holes inside of one part that is read in one step.
    for (let at = 0; at < 2 * MIB; at += 128 * 1024) content.fill('island', at, at + 4096);
    content.fill('random-looking text ', 4 * MIB, 5 * MIB + 4096);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A libvirt with one stopped VM that has the given disk. */
  const exportOf = (path: string, format: string, run?: RunProgram, uri = 'qemu:///system'): LibvirtExport => {
    const xml = `<domain><name>web</name><uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid><memory>1</memory><vcpu>1</vcpu><os><type arch='x86_64'>hvm</type></os>
      <devices><disk type='file' device='disk'><driver name='qemu' type='${format}'/><source file='${path}'/><target dev='vda' bus='virtio'/></disk></devices></domain>`;
    const domains = {
      lookUp: async () => ({ uuid: 'uuid-1', name: 'web' }),
      inspect: async () => ({ xml, state: parseDomainState('shut off (shutdown)'), isPersistent: true }),
    };
    const connection = { uri, domains } as unknown as LibvirtConnection;
    return new LibvirtExport({
      connection,
      finder: new DomainFinder('local', connection),
      clock: new SystemClock(),
      createTemporaryFolder: () => mkdtemp(join(folder, 'work-')),
      run,
    });
  };

  const rawDisk = async (data = content): Promise<string> => {
    const path = join(folder, 'disk.raw');
    await writeFile(path, data);
    return path;
  };
  /** An overlay over a base image, as the service creates them. */
  const overlay = async (): Promise<string> => {
    const [raw, base, top] = [await rawDisk(), join(folder, 'base.qcow2'), join(folder, 'top.qcow2')];
    await execute('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, base]);
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', base, top]);
    return top;
  };
  const work = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith('work-'));
  /** IDs of QEMU's programs that use the folder of the test. */
  const running = async (): Promise<number[]> =>
    (await execute('ps', ['-eo', 'pid=,args='])).stdout
      .split('\n')
      .filter((line) => /^ *\d+ qemu-/.test(line) && line.includes(folder))
      .map((line) => Number.parseInt(line, 10));
  const isRunning = async (): Promise<boolean> => (await running()).length > 0;
  const closed = (stream: Readable): Promise<unknown> =>
    new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));

  test('has the content of an overlay with its base image', async () => {
    const stream = await exportOf(await overlay(), 'qcow2').open(ref, 'raw.gz', never);
    const end = closed(stream);
    const exported = gunzipSync(await buffer(stream));
    await end;
    expect(exported.equals(content)).toBe(true);
    expect([await work(), await isRunning()]).toEqual([[], false]);
  });

  test('has all bytes of a disk whose size is no multiple of a chunk', async () => {
    const odd = content.subarray(0, 3 * MIB + 512);
    const stream = await exportOf(await rawDisk(odd), 'raw').open(ref, 'raw.gz', never);
    expect(gunzipSync(await buffer(stream)).equals(odd)).toBe(true);
  });

  test('reads no other file, also if the guest wrote an image header to its raw disk that names one', async () => {
    const [secret, image] = [join(folder, 'secret'), join(folder, 'evil.qcow2')];
    await writeFile(secret, Buffer.alloc(MIB, 'SECRET'));
    await execute('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', secret, image]);
    const evil = await readFile(image);
    const path = await rawDisk(Buffer.concat([evil, Buffer.alloc(512 - (evil.length % 512 || 512))]));
    const disk = await readFile(path);
    const raw = gunzipSync(await buffer(await exportOf(path, 'raw').open(ref, 'raw.gz', never)));
    expect(raw.equals(disk)).toBe(true);
    const qcow2 = await buffer(await exportOf(path, 'raw').open(ref, 'qcow2', never));
    expect(qcow2.includes('SECRETSECRET')).toBe(false);
  });

  test('as qcow2 equals the disk, and needs no other file', async () => {
    const disk = await overlay();
    const image = join(folder, 'exported.qcow2');
    const stream = await exportOf(disk, 'qcow2').open(ref, 'qcow2', never);
    const end = closed(stream);
    await writeFile(image, await buffer(stream));
    await end;
    await execute('qemu-img', ['compare', '-f', 'qcow2', '-F', 'qcow2', disk, image]);
    const { stdout } = await execute('qemu-img', ['info', '--output=json', image]);
    expect(JSON.parse(stdout)).not.toHaveProperty('backing-filename');
    expect(await work()).toEqual([]);
  });

  test('ends its program and removes its files when the reader leaves halfway', async () => {
    const path = await rawDisk();
    await truncate(path, 512 * MIB);
    const stream = await exportOf(path, 'raw').open(ref, 'raw.gz', never);
    // Not its data: a stream that has begun to flow ends without a reader.
    await once(stream, 'readable');
    expect(await isRunning()).toBe(true);
    const end = closed(stream);
    stream.destroy();
    await end;
    expect([await work(), await isRunning()]).toEqual([[], false]);
  });

  test('fails when its program is killed, and cleans up', async () => {
    const path = await rawDisk();
    await truncate(path, 512 * MIB);
    const stream = await exportOf(path, 'raw').open(ref, 'raw.gz', never);
    const failed = once(stream, 'error').catch((error: unknown) => [error]);
    const end = new Promise((resolve) => stream.once('close', resolve));
    for (const pid of await running()) process.kill(pid, 'SIGKILL');
    stream.resume();
    const [error] = await failed;
    expect(error).toMatchObject({ code: 'BACKEND_FAILED' });
    await end;
    expect(await work()).toEqual([]);
  });

  test('stops a conversion when the reader leaves before it ends', async () => {
    const path = await rawDisk();
    await truncate(path, 64 * 1024 * MIB);
    const gone = new AbortController();
    const slow: RunProgram = (program, args, options) => {
      const running = runProgram(program, args, options);
      if (args[0] === 'convert') gone.abort(new Error('The client has left.'));
      return running;
    };
    await expect(exportOf(path, 'raw', slow).open(ref, 'qcow2', gone.signal)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect([await work(), await isRunning()]).toEqual([[], false]);
  });

  test('reads ahead only a few chunks of a disk for a reader that has paused', async () => {
    const path = await rawDisk();
    await truncate(path, 512 * MIB);
    const server = NbdServer.start({ path, format: 'raw' }, folder);
    const reader = await server.open(new SystemClock(), never);
    const { socket } = (reader as unknown as { connection: { socket: { bytesRead: number } } }).connection;
    await once(reader, 'readable');
    let before = -1;
    while (before !== socket.bytesRead) {
      before = socket.bytesRead;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(socket.bytesRead).toBeLessThan(8 * MIB);
    reader.destroy();
    await server.stop();
  });

  test('refuses a disk that another program is writing', async () => {
    const path = await overlay();
    const socket = join(folder, 'writer.sock');
    const writer = spawn('qemu-nbd', ['--format', 'qcow2', '--persistent', '--socket', socket, path], {
      stdio: 'ignore',
    });
    try {
      // It greets once it has opened, and locked, the disk.
      await greetingOf(socket);
      await expect(exportOf(path, 'qcow2').open(ref, 'raw.gz', never)).rejects.toMatchObject({ code: 'BUSY' });
      await expect(exportOf(path, 'qcow2').open(ref, 'qcow2', never)).rejects.toMatchObject({ code: 'BUSY' });
      expect(await work()).toEqual([]);
    } finally {
      const exited = once(writer, 'exit');
      writer.kill('SIGKILL');
      await exited;
    }
  });

  test('needs its programs, and names the package that has them', async () => {
    const missing: RunProgram = async () => ({ code: null, stdout: '', stderr: '', missing: true });
    const exports = exportOf(await rawDisk(), 'raw', missing);
    for (const format of ['raw.gz', 'qcow2'] as const) {
      await expect(exports.check(ref, format)).rejects.toMatchObject({
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining('qemu-utils'),
      });
    }
  });

  test('reports a disk that is missing', async () => {
    const exports = exportOf(join(folder, 'nope.raw'), 'raw');
    await expect(exports.check(ref, 'raw.gz')).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  (process.getuid?.() === 0 ? test : test.skip)(
    'does not read, as root, the files that the VMs of another user name as their disks',
    async () => {
      const socket = join(folder, 'libvirt-sock');
      await writeFile(socket, '');
      await chown(socket, 65_534, 65_534);
      const secret = join(folder, 'secret');
      await writeFile(secret, content, { mode: 0o600 });
      const disks = exportOf(secret, 'raw', undefined, `qemu+unix:///session?socket=${socket}`);
      await expect(disks.check(ref, 'raw.gz')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      await expect(disks.open(ref, 'raw.gz', never)).rejects.toMatchObject({
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining('the user 65534'),
      });
    },
  );
});
