import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SILENT_LOG, type ImageOrigin, type ImageRef, type ImportedImage } from '@headgate/domain-contracts';
import { FixedClock, recordingReporter } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { EgressPolicy, SpaceGuard, PartialDownloads } from '@headgate/downloads';
import { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import { JsonIndex } from '../storage/json-index.js';
import { QemuImg } from '../storage/qemu-img.js';
import { StoragePool } from '../storage/storage-pool.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { KeyedLock } from '../locks/concurrency.js';
import type { RunProgram } from '../programs/run-program.js';
import { isImportedImage, LibvirtImages, type LibvirtImagesDeps } from './libvirt-images.js';

const MIB = 1024 ** 2;
const DISK = Buffer.alloc(MIB);
const REF: ImageRef = { context: 'local', namespace: 'local', name: 'golden' };

describe('LibvirtImages', () => {
  let folder: string;
  let server: HttpServer;
  let images: LibvirtImages;
  let clock: FixedClock;
  let programs: string[];
  let users: string[];
  let mentioned: Set<string>;
  let freeBytes: number;
  let poolBytes: number;
  let partials: PartialDownloads;

  const volume = (name: string): string => join(folder, 'pool', name);
  const volumes = (): Promise<string[]> => readdir(join(folder, 'pool'));
  /** A qemu-img that copies. */
  const run: RunProgram = async (_program, args, { cwd = '' }) => {
    programs.push(args[0] ?? '');
    if (args[0] === 'convert') await copyFile(join(cwd, args.at(-2) ?? ''), join(cwd, args.at(-1) ?? ''));
    return { code: 0, stdout: '{}', stderr: '' };
  };
  const renamingPool = (): LibvirtImagesDeps['pool'] => ({
    name: 'headgate',
    ensure: () => Promise.resolve(),
    path: () => Promise.resolve(join(folder, 'pool')),
    has: async (name) => (await volumes()).includes(name),
    makePrivate: () => Promise.resolve(),
    remove: (name) => rm(volume(name), { force: true }),
    moveInto: (name, file) => rename(file, volume(name)),
    space: () => Promise.resolve({ isActive: true, availableBytes: poolBytes, capacityBytes: 2 * poolBytes }),
  });
  const open = (pool = renamingPool()): LibvirtImages => {
    partials = new PartialDownloads(join(folder, 'private', 'partial'), clock);
    return new LibvirtImages({
      context: 'local',
      namespace: 'local',
      pool,
      records: new JsonIndex(join(folder, 'private', 'imported-images.json')),
      references: { read: () => Promise.resolve(mentioned) },
      readUsage: () => Promise.resolve({ usersOf: () => users }),
      progress: new WorkInProgress(join(folder, 'private')),
      images: new QemuImg(run, false),
      downloads: {
        http: { egress: new EgressPolicy({ allow: [server.host] }), clock },
        space: new SpaceGuard(folder, () => Promise.resolve(freeBytes)),
        partials,
      },
      lock: new KeyedLock(),
      clock,
      log: SILENT_LOG,
    });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-images-'));
    await mkdir(join(folder, 'pool'));
    await writeFile(volume('base-11111111-other.qcow2'), 'another image');
    server = await HttpServer.listen();
    [clock, programs, users, mentioned, freeBytes, poolBytes] = [new FixedClock(), [], [], new Set(), 1e12, 1e12];
    images = open();
  });
  afterEach(async () => {
    await images.close();
    await server.close();
    expect(await volumes()).toContain('base-11111111-other.qcow2');
    await rm(folder, { recursive: true });
  });

  const importFrom = async (origin: ImageOrigin, bytes = 2 * MIB): Promise<void> =>
    (await images.import({ ref: REF, bytes, origin }))(recordingReporter());
  const fromUrl = (path: string, checksum?: string): Promise<void> =>
    importFrom({ kind: 'url', url: server.url(path), checksum });
  const upload = async (content: Buffer): Promise<void> => {
    const file = join(folder, 'upload');
    await writeFile(file, content);
    return importFrom({ kind: 'upload', file });
  };
  const only = async (): Promise<ImportedImage | undefined> => (await images.list())[0];
  const ownVolumes = async (): Promise<string[]> => (await volumes()).filter(isImportedImage);
  const leftovers = async (): Promise<string[]> =>
    (
      await Promise.all(['fetching', 'partial'].map((name) => readdir(join(folder, 'private', name)).catch(() => [])))
    ).flat();

  test('stores a download, and lists it also after a restart', async () => {
    server.serve('/disk.img', DISK);
    await fromUrl('/disk.img?token=hidden');
    const image = { ref: REF, bytes: 2 * MIB, phase: 'Succeeded', progress: 1, source: server.url('/disk.img') };
    expect(await images.list()).toEqual([expect.objectContaining(image)]);
    const [name = ''] = await ownVolumes();
    expect((await readFile(volume(name))).equals(DISK)).toBe(true);
    expect(programs).toEqual(['info', 'convert', 'resize']);
    images = open();
    expect(await only()).toMatchObject(image);
    expect(await leftovers()).toEqual([]);
  });

  describe('in a folder that every user enters', () => {
    const OTHER_USER = '65533';
    let pool: StoragePool;
    beforeEach(async () => {
      for (const path of [folder, join(folder, 'pool')]) await chmod(path, 0o755);
      const libvirt = new FakeLibvirt();
      libvirt.addPool('headgate', join(folder, 'pool'));
      pool = new StoragePool(libvirt.connection(), 'headgate', join(folder, 'pool'));
      images = open(pool);
      await upload(DISK);
    });
    const path = async (): Promise<string> => volume((await ownVolumes())[0] ?? '');
    const mode = async (): Promise<number> => (await stat(await path())).mode & 0o777;

    test('keeps images from other users, also those of earlier versions', async () => {
      expect(await mode()).toBe(0o600);
      await chmod(await path(), 0o644);
      images = open(pool);
      await images.sweep();
      expect(await mode()).toBe(0o600);
    });

    (process.getuid?.() === 0 ? test : test.skip)('lets another user not read an image', async () => {
      const user = ['--reuid', OTHER_USER, '--regid', OTHER_USER, '--clear-groups'];
      const read = async (file: string) =>
        promisify(execFile)('setpriv', [...user, 'cat', file], { encoding: 'latin1' });
      await expect(read(await path())).rejects.toThrow('Permission denied');
      // The folder does not prevent it.
      expect((await read(volume('base-11111111-other.qcow2'))).stdout).toBe('another image');
    });
  });

  test('reports the progress of a download while it runs', async () => {
    server.routes.set('/slow', (_request, response) => {
      response.writeHead(200, { 'content-length': 2 * DISK.length }).write(DISK);
    });
    const work = (await images.import({ ref: REF, bytes: 4 * MIB, origin: { kind: 'url', url: server.url('/slow') } }))(
      recordingReporter(),
    );
    work.catch(() => undefined);
    while (((await only())?.progress ?? 0) < 0.4) await new Promise((resolve) => setImmediate(resolve));
    expect(await only()).toMatchObject({ phase: 'ImportInProgress' });
    await images.delete(REF);
    await expect(work).rejects.toMatchObject({ code: 'CONFLICT' });
    expect([await images.list(), await ownVolumes(), await leftovers()]).toEqual([[], [], []]);
  });

  test('keeps the reason of a failed import, but none of its data', async () => {
    server.serve('/passwd', 'root:x:0:0:root:/root:/bin/sh\n'.repeat(100));
    await expect(fromUrl('/passwd')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect(await only()).toMatchObject({ phase: 'Failed', reason: 'The image is a text, not a disk.' });
    expect([await ownVolumes(), await leftovers(), programs]).toEqual([[], [], []]);
    await expect(fromUrl('/passwd')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await images.delete(REF);
    expect(await images.list()).toEqual([]);
  });

  test('refuses a redirect to a private address', async () => {
    const secret = await HttpServer.listen();
    secret.serve('/meta', DISK);
    server.routes.set(
      '/image',
      (_request, response) => void response.writeHead(302, { location: secret.url('/meta') }).end(),
    );
    await expect(fromUrl('/image')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect(secret.requests).toEqual([]);
    await secret.close();
    expect(await ownVolumes()).toEqual([]);
  });

  test('refuses a download that is shorter than announced', async () => {
    server.routes.set('/short', (_request, response) => {
      response
        .writeHead(200, { 'content-length': DISK.length })
        .write(DISK.subarray(0, 1000), () => response.destroy());
    });
    await expect(fromUrl('/short')).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect([(await only())?.phase, await ownVolumes()]).toEqual(['Failed', []]);
  });

  test('refuses a download with another checksum', async () => {
    server.serve('/disk.img', DISK);
    await expect(fromUrl('/disk.img', `sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect([(await only())?.phase, await ownVolumes()]).toEqual(['Failed', []]);
  });

  test('imports an uploaded file', async () => {
    await upload(DISK);
    expect(await only()).toMatchObject({ phase: 'Succeeded', source: 'upload' });
    expect(await readdir(folder)).not.toContain('upload');
  });

  test.each<[string, Buffer]>([
    ['names a backing file', qcow2({ backing: 512n })],
    ['has an external data file', qcow2({ incompatible: 4n })],
    ['is a VMDK description with foreign extents', Buffer.from('# Disk DescriptorFile\nRW 1 FLAT "/etc/shadow" 0\n')],
    ['is a VMDK without data of its own', vmdk({ capacity: 0n })],
    ['is a VMDK with a parent', vmdk({ description: 'parentFileNameHint="/etc/shadow"' })],
  ])('runs no program on an upload that %s', async (_title, content) => {
    await expect(upload(content)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect([programs, await ownVolumes()]).toEqual([[], []]);
  });

  test('refuses an image that is larger than its size', async () => {
    await expect(upload(qcow2({ bytes: 2n ** 50n }))).rejects.toMatchObject({ code: 'INVALID_QUANTITY' });
    expect([programs, await ownVolumes()]).toEqual([['info'], []]);
  });

  test('refuses an import when the disk is almost full', async () => {
    freeBytes = MIB;
    await expect(upload(DISK)).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    expect(await images.list()).toEqual([]);
  });

  test('refuses an import when the storage pool is almost full, on the same disk or another one', async () => {
    poolBytes = MIB;
    await expect(upload(DISK)).rejects.toMatchObject({
      code: 'INSUFFICIENT_STORAGE',
      message: expect.stringContaining('The storage pool headgate has only 1Mi free.'),
    });
    expect(await images.list()).toEqual([]);
  });

  test('imports one image at a time under a name', async () => {
    const [first, second] = await Promise.allSettled([
      images.import({ ref: REF, bytes: MIB, origin: { kind: 'url', url: server.url('/disk.img') } }),
      images.import({ ref: REF, bytes: MIB, origin: { kind: 'url', url: server.url('/disk.img') } }),
    ]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  });

  test('does not delete an image that a domain uses, or that a volume is based on', async () => {
    await upload(DISK);
    users = ['web'];
    expect((await images.planDelete(REF)).refusals).toMatchObject([{ code: 'BUSY' }]);
    await expect(images.delete(REF)).rejects.toMatchObject({ code: 'BUSY', message: expect.stringContaining('web') });
    users = [];
    mentioned = new Set(await ownVolumes());
    await expect(images.delete(REF)).rejects.toMatchObject({ code: 'BUSY' });
    expect([await ownVolumes(), (await only())?.phase]).toEqual([[expect.any(String)], 'Succeeded']);
    mentioned = new Set();
    await images.delete(REF);
    expect([await ownVolumes(), await images.list()]).toEqual([[], []]);
  });

  test('marks the imports of a killed service as failed and removes their volumes, but no complete image', async () => {
    await upload(DISK);
    const [complete = ''] = await ownVolumes();
    const half = complete.replace('golden', 'half');
    await images.import({
      ref: { ...REF, name: 'half' },
      bytes: MIB,
      origin: { kind: 'url', url: server.url('/disk.img') },
    });
    await writeFile(volume(half), 'half');
    images = open();
    await images.sweep();
    expect(await ownVolumes()).toEqual([complete]);
    expect(await images.list()).toMatchObject([
      { ref: { name: 'golden' }, phase: 'Succeeded' },
      { ref: { name: 'half' }, phase: 'Failed', reason: expect.stringContaining('interrupted') },
    ]);
  });

  /** An import whose download is cut in half by the end of the service, and the images of the next start. */
  const interrupted = async (): Promise<(string | undefined)[]> => {
    const ranges: (string | undefined)[] = [];
    const half = DISK.length / 2;
    server.routes.set('/disk.img', (request, response) => {
      ranges.push(request.headers.range);
      const start = request.headers.range === undefined ? 0 : half;
      response.writeHead(start > 0 ? 206 : 200, {
        etag: '"v1"',
        'content-length': DISK.length - start,
        ...(start > 0 && { 'content-range': `bytes ${start}-${DISK.length - 1}/${DISK.length}` }),
      });
      if (start > 0) response.end(DISK.subarray(start));
      else response.write(DISK.subarray(0, half));
    });
    const work = fromUrl('/disk.img');
    work.catch(() => undefined);
    const stored = async (): Promise<number> => {
      const [name = ''] = await readdir(join(folder, 'private', 'partial')).catch(() => [] as string[]);
      return stat(join(folder, 'private', 'partial', name, 'data')).then(
        ({ size }) => size,
        () => 0,
      );
    };
    while ((await stored()) < half) await new Promise((resolve) => setImmediate(resolve));
    partials.interrupt();
    await images.close();
    await expect(work).rejects.toMatchObject({ code: 'CONFLICT' });
    images = open();
    await images.sweep();
    await partials.sweep();
    expect(await only()).toMatchObject({ phase: 'Failed', reason: expect.stringContaining('import it again') });
    ranges.length = 0;
    return ranges;
  };
  const isGolden = async (): Promise<void> => {
    expect(await only()).toMatchObject({ ref: REF, bytes: 2 * MIB, phase: 'Succeeded' });
    const [name = ''] = await ownVolumes();
    expect((await readFile(volume(name))).equals(DISK)).toBe(true);
    expect(await leftovers()).toEqual([]);
  };
  const resume = async (origin?: Extract<ImageOrigin, { kind: 'url' }>): Promise<void> =>
    (await images.resume({ ref: REF, bytes: 2 * MIB, ...(origin && { origin }) }))(recordingReporter());

  test('continues the download of an import that ended with the service, when it is imported again', async () => {
    const ranges = await interrupted();
    await images.delete(REF);
    await fromUrl('/disk.img');
    expect(ranges).toEqual([undefined, `bytes=${DISK.length / 2}-`]);
    await isGolden();
  });

  test('resumes an import that ended with the service, and does nothing more when it is complete', async () => {
    const ranges = await interrupted();
    const { createdAt } = (await only()) ?? {};
    const origin = { kind: 'url', url: server.url('/disk.img') } as const;
    const work = await images.resume({ ref: REF, bytes: 2 * MIB, origin });
    expect(await only()).toMatchObject({ phase: 'ImportInProgress', createdAt });
    await images.sweep();
    await work(recordingReporter());
    expect(ranges).toEqual([undefined, `bytes=${DISK.length / 2}-`]);
    await isGolden();
    ranges.length = 0;
    await resume(origin);
    await resume();
    expect(ranges).toEqual([]);
    await isGolden();
  });

  test('resumes an import whose end came before it had begun', async () => {
    server.serve('/disk.img', DISK);
    await resume({ kind: 'url', url: server.url('/disk.img') });
    await isGolden();
  });

  test('can not resume an import without its URL, and keeps no part of it', async () => {
    await interrupted();
    await expect(resume()).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect(await only()).toMatchObject({ phase: 'Failed', reason: expect.stringContaining('query') });
    expect(await ownVolumes()).toEqual([]);
    await images.delete(REF);
    await expect(resume()).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
  });

  test('does not repeat an import that had failed', async () => {
    server.serve('/passwd', 'root:x:0:0:root:/root:/bin/sh\n'.repeat(100));
    await expect(fromUrl('/passwd')).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    server.requests.length = 0;
    await expect(resume({ kind: 'url', url: server.url('/passwd') })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: 'The image is a text, not a disk.',
    });
    expect(server.requests).toEqual([]);
  });

  test('gives complete images to VMs only', async () => {
    await upload(DISK);
    expect([await images.bytesOf('golden'), await images.bytesOf('other')]).toEqual([2 * MIB, undefined]);
    await expect(images.use('other', () => Promise.resolve())).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
  });
});

/** A qcow2 version 3 header with overrides. */
function qcow2({ backing = 0n, incompatible = 0n, bytes = BigInt(MIB) } = {}): Buffer {
  const header = Buffer.alloc(104);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(backing, 8);
  header.writeUInt32BE(16, 20);
  header.writeBigUInt64BE(bytes, 24);
  header.writeBigUInt64BE(incompatible, 72);
  return header;
}

/** A VMDK with the header of a sparse file. */
function vmdk({ capacity = 2048n, description = '' } = {}): Buffer {
  const file = Buffer.alloc(4096);
  file.write('KDMV', 'latin1');
  file.writeUInt32LE(1, 4);
  file.writeBigUInt64LE(capacity, 12);
  file.writeBigUInt64LE(1n, 28);
  file.write(description, 512, 'latin1');
  return file;
}
