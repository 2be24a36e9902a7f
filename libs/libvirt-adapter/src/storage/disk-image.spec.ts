import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkIso, inspectImage } from './disk-image.js';

/** A qcow2 version 3 header for a disk of 1 GiB, with overrides. */
function qcow2({ version = 3, backing = 0n, encryption = 0, incompatible = 0n, bytes = 1024n ** 3n } = {}): Buffer {
  const header = Buffer.alloc(104);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeBigUInt64BE(backing, 8);
  header.writeUInt32BE(16, 20);
  header.writeBigUInt64BE(bytes, 24);
  header.writeUInt32BE(encryption, 32);
  header.writeBigUInt64BE(incompatible, 72);
  return header;
}

describe('inspectImage', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'image-spec-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const inspect = async (content: Buffer) => {
    const file = join(folder, 'image');
    await writeFile(file, content);
    return inspectImage(file);
  };

  test('reads the virtual size', async () => {
    expect(await inspect(qcow2())).toEqual({ format: 'qcow2', bytes: 1024 ** 3 });
    expect(await inspect(Buffer.alloc(4096))).toEqual({ format: 'raw', bytes: 4096 });
  });

  test.each([
    ['names a backing file', qcow2({ backing: 512n }), 'backing file'],
    ['has an external data file', qcow2({ incompatible: 4n }), 'another file'],
    ['is encrypted', qcow2({ encryption: 2 }), 'encrypted'],
    ['has an unknown version', qcow2({ version: 4 }), 'version 4'],
    ['claims an impossible size', qcow2({ bytes: 2n ** 63n }), 'impossible'],
    ['ends within its header', qcow2().subarray(0, 40), 'header'],
    ['is a VMDK', Buffer.from('KDMV....'), 'VMDK'],
    ['is empty', Buffer.alloc(0), 'empty'],
    ['is a text', Buffer.from('root:x:0:0:root:/root:/bin/sh\n'.repeat(50)), 'text'],
    ['is a text in another language', Buffer.from('größer, 日本語\n'.repeat(400)), 'text'],
    ['is compressed twice', gzipSync(gzipSync(Buffer.alloc(100))), 'gzip'],
  ])('rejects an image that %s', async (_title, content, mention) => {
    await expect(inspect(content)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining(mention),
    });
  });
});

describe('checkIso', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'iso-spec-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const check = async (content: Buffer) => {
    const file = join(folder, 'image.iso');
    await writeFile(file, content);
    return checkIso(file);
  };

  test.each(['CD001', 'BEA01'])('accepts an image with the volume descriptor %s', async (descriptor) => {
    const image = Buffer.alloc(64 * 1024);
    image.write(descriptor, 32_769);
    await expect(check(image)).resolves.toBeUndefined();
  });

  test.each([
    ['a text', Buffer.from('This is not an image. '.repeat(4000))],
    ['a short file', Buffer.alloc(100)],
    ['a qcow2 image with a backing file', Buffer.concat([qcow2({ backing: 512n }), Buffer.alloc(64 * 1024)])],
    ['zeros', Buffer.alloc(64 * 1024)],
  ])('rejects %s', async (_title, content) => {
    await expect(check(content)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
  });
});
