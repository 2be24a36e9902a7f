import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fingerprintOf } from './fingerprint.js';
import { readTar, type TarEntry } from './read-tar.js';
import { rewriteTar } from './rewrite-tar.js';

const LONG = 'a-long-name-'.repeat(12);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-tar-'));
  mkdirSync(join(folder, 'backup/container/rootfs'), { recursive: true });
  writeFileSync(join(folder, 'backup/index.yaml'), 'name: web\n');
  writeFileSync(join(folder, 'backup/container/rootfs/ä ö'), 'grüße');
  writeFileSync(join(folder, 'backup/container/rootfs', LONG), Buffer.alloc(5000, 7));
  symlinkSync(LONG, join(folder, 'backup/container/rootfs/link'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const archive = (...options: string[]): Buffer =>
  execFileSync('tar', ['-C', folder, '--sort=name', '--numeric-owner', ...options, '-cf', '-', 'backup']);
/** In chunks of the size. */
async function* inChunks(content: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size);
}
const entriesOf = async (content: Buffer, size?: number): Promise<Omit<TarEntry, 'content' | 'head'>[]> => {
  const found = [];
  for await (const { content: _content, head: _head, ...entry } of readTar(inChunks(content, size))) found.push(entry);
  return found;
};
const all = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};

describe.each(['posix', 'gnu'])('an archive of the format %s', (format) => {
  const formatted = (): Buffer => archive(`--format=${format}`);

  test('is read entry by entry, in chunks of any size', async () => {
    const names = (await entriesOf(formatted())).map(({ name }) => name);
    expect(names).toEqual([
      'backup/',
      'backup/container/',
      'backup/container/rootfs/',
      `backup/container/rootfs/${LONG}`,
      'backup/container/rootfs/link',
      'backup/container/rootfs/ä ö',
      'backup/index.yaml',
    ]);
    expect(await entriesOf(formatted(), 1)).toEqual(await entriesOf(formatted(), 1_000_000));
  });

  test('passes as it is, apart from the text that is replaced', async () => {
    const rewritten = rewriteTar(inChunks(formatted()), async (name, content) =>
      name === 'backup/index.yaml' ? `${await content()}more: ${'x'.repeat(2000)}\n` : undefined,
    );
    const content = await all(rewritten);
    const listed = execFileSync('tar', ['-xOf', '-', 'backup/index.yaml'], { input: content }).toString();
    expect(listed).toBe(`name: web\nmore: ${'x'.repeat(2000)}\n`);
    const file = execFileSync('tar', ['-xOf', '-', 'backup/container/rootfs/ä ö'], { input: content }).toString();
    expect(file).toBe('grüße');
    expect(await fingerprintOf(inChunks(content))).toBe(await fingerprintOf(inChunks(formatted())));
  });

  test('is refused when it ends in the middle, or is none', async () => {
    const cut = formatted().subarray(0, 2048 + 100);
    await expect(entriesOf(cut)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    await expect(entriesOf(Buffer.alloc(2048, 65))).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    await expect(fingerprintOf(inChunks(cut))).rejects.toThrow('The archive ended in the middle.');
  });
});

describe('the hash of a backup', () => {
  const hash = (...options: string[]): Promise<string> => fingerprintOf(inChunks(archive(...options)));
  const file = (name: string): string => join(folder, 'backup', name);

  test('does not depend on the descriptions, nor on the format', async () => {
    const before = await hash('--format=posix');
    writeFileSync(file('index.yaml'), 'name: other\n');
    writeFileSync(file('container/backup.yaml'), 'container: {}\n');
    expect([await hash('--format=posix'), await hash('--format=gnu')]).toEqual([before, before]);
  });

  test.each([
    ['a byte', () => writeFileSync(file('container/rootfs/ä ö'), 'grüsse')],
    ['a file', () => writeFileSync(file('container/rootfs/new'), '')],
    ['a permission', () => execFileSync('chmod', ['4711', file('container/rootfs/new')])],
    ['a time', () => execFileSync('touch', ['-d', '2020-01-01', file('container/rootfs/new')])],
    ['the target of a link', () => execFileSync('ln', ['-sf', 'other', file('container/rootfs/link')])],
  ])('changes with %s', async (_what, change) => {
    const before = await hash();
    change();
    expect(await hash()).not.toBe(before);
  });

  test('has the attributes of files', async () => {
    const [before, attributes] = [await hash('--format=posix'), ['--pax-option=SCHILY.xattr.user.note:=%00%ff']];
    expect(await hash('--format=posix', ...attributes)).not.toBe(before);
  });
});

test('reads no more of a file than the next entry needs', async () => {
  for await (const entry of readTar(inChunks(archive()))) {
    if (entry.name !== 'backup/container/rootfs/ä ö') continue;
    expect(await text(entry.content())).toBe('grüsse');
    expect(await text(entry.content())).toBe('');
  }
});
