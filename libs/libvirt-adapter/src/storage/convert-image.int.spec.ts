import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { SpaceGuard } from '@headgate/downloads';
import { convertImage } from './convert-image.js';
import { QemuImg } from './qemu-img.js';

const MIB = 1024 ** 2;
const CONTENT = Buffer.alloc(4 * MIB, 'the content of a disk');

describe('convertImage with qemu-img', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-convert-'));
    await writeFile(join(folder, 'content.raw'), CONTENT);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const make = (format: string, ...options: string[]): string => {
    const file = join(folder, `source.${format}`);
    execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', format, ...options, join(folder, 'content.raw'), file]);
    return file;
  };
  const convert = async (file: string): Promise<Buffer> => {
    const work = await mkdtemp(join(folder, 'work-'));
    const source = join(work, 'source');
    await writeFile(source, await readFile(file));
    const disk = await convertImage(source, {
      folder: work,
      maxBytes: 8 * MIB,
      images: new QemuImg(),
      space: new SpaceGuard(folder),
      report: { step: () => undefined, signal: new AbortController().signal },
    });
    expect(disk.bytes).toBe(CONTENT.length);
    const raw = join(folder, 'result.raw');
    execFileSync('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', disk.file, raw]);
    return readFile(raw);
  };

  test.each([
    ['qcow2', []],
    ['vmdk', []],
    ['vmdk', ['-o', 'subformat=streamOptimized']],
    ['vhdx', []],
  ])('reads %s %j', async (format, options) => {
    expect((await convert(make(format, ...options))).equals(CONTENT)).toBe(true);
  });

  test('reads the disk of an appliance', async () => {
    const archive = pack();
    archive.entry({ name: 'machine.ovf' }, '<Envelope/>');
    archive.entry({ name: '../../disk.vmdk' }, await readFile(make('vmdk', '-o', 'subformat=streamOptimized')));
    archive.finalize();
    const file = join(folder, 'machine.ova');
    await writeFile(file, await buffer(archive));
    expect((await convert(file)).equals(CONTENT)).toBe(true);
  });

  test('refuses an appliance with two disks, and one without any', async () => {
    for (const names of [['a.vmdk', 'b.vmdk'], []]) {
      const archive = pack();
      archive.entry({ name: 'machine.ovf' }, '<Envelope/>');
      for (const name of names) archive.entry({ name }, 'KDMV');
      archive.finalize();
      const file = join(folder, 'machine.ova');
      await writeFile(file, await buffer(archive));
      await expect(convert(file)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    }
  });

  test.each([
    ['that qemu-img can not open', (image: Buffer) => image.writeUInt32BE(99, 20)],
    ['whose tables are damaged', (image: Buffer) => image.fill(0xff, 192 * 1024)],
  ])('names no path of this machine when it refuses an image %s', async (_what, damage) => {
    const file = make('qcow2');
    const image = await readFile(file);
    damage(image);
    await writeFile(file, image);
    const error = (await convert(file).catch((thrown: unknown) => thrown)) as DomainError;
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'INVALID_SOURCE', message: expect.stringContaining('damaged') });
    expect(error.message).not.toMatch(/hgtest-|'|source|disk\.qcow2|work-/);
  });
});
