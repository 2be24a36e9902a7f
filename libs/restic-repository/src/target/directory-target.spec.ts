import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileExistsError, FileNotFoundError, InvalidInputError } from '../model/errors.js';
import { DirectoryTarget } from './directory-target.js';

const NAME = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

describe('DirectoryTarget', () => {
  let folder: string;
  let target: DirectoryTarget;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'target-'));
    target = new DirectoryTarget(join(folder, 'repository'));
    await target.prepare();
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (...parts: string[]) => join(folder, 'repository', ...parts);
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  test('has the layout of restic, for its owner only', async () => {
    await target.write('data', NAME, Buffer.from('pack'));
    await target.write('config', 'config', Buffer.from('config'));
    expect((await readdir(at())).sort()).toEqual(['config', 'data', 'index', 'keys', 'locks', 'snapshots']);
    expect(await modeOf(at())).toBe('700');
    expect(await modeOf(at('data/ab'))).toBe('700');
    expect(await modeOf(at('data/ab', NAME))).toBe('600');
    expect(await target.list('data')).toEqual([{ name: NAME, size: 4 }]);
    expect(await target.list('config')).toEqual([{ name: 'config', size: 6 }]);
  });

  test('reads parts of files, and less at their end', async () => {
    await target.write('index', NAME, Buffer.from('0123456789'));
    expect(Buffer.from(await target.read('index', NAME, 3, 4)).toString()).toBe('3456');
    expect(Buffer.from(await target.read('index', NAME, 8, 10)).toString()).toBe('89');
    expect((await target.read('index', NAME, 20, 10)).length).toBe(0);
    expect(await target.size('index', NAME)).toBe(10);
  });

  test('never overwrites a file and leaves nothing behind', async () => {
    await target.write('keys', NAME, Buffer.from('first'));
    await expect(target.write('keys', NAME, Buffer.from('second'))).rejects.toThrow(FileExistsError);
    expect(Buffer.from(await target.read('keys', NAME)).toString()).toBe('first');
    expect(await readdir(at('keys'))).toEqual([NAME]);
  });

  test('lets one of many writers of a name win', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => target.write('locks', NAME, Buffer.from(`${at}`))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('says that a file does not exist', async () => {
    for (const call of ['read', 'size', 'remove'] as const) {
      await expect(target[call]('snapshots', NAME)).rejects.toThrow(FileNotFoundError);
    }
    expect(await new DirectoryTarget(join(folder, 'none')).list('data')).toEqual([]);
  });

  test.each(['../keys/x', 'config', '', `${NAME}x`, NAME.toUpperCase(), `../${NAME.slice(3)}`])(
    'refuses the name %j',
    async (name) => {
      await expect(target.read('snapshots', name)).rejects.toThrow(InvalidInputError);
      await expect(target.write('data', name, Buffer.of(1))).rejects.toThrow(InvalidInputError);
      await expect(target.remove('locks', name)).rejects.toThrow(InvalidInputError);
    },
  );

  test('leaves out foreign and unfinished files, and removes the latter when it cleans', async () => {
    await mkdir(at('data/ab'));
    await writeFile(at('data/ab', `${NAME}-tmp-1234`), 'half');
    await writeFile(at('snapshots', `${NAME}-tmp-99`), 'half');
    await writeFile(at('data/ab', OTHER), 'in the wrong folder');
    await writeFile(at('snapshots/README'), 'foreign');
    expect(await target.list('data')).toEqual([]);
    expect(await target.list('snapshots')).toEqual([]);
    await target.clean();
    expect(await readdir(at('data/ab'))).toEqual([OTHER]);
    expect(await readdir(at('snapshots'))).toEqual(['README']);
  });

  test('follows no link in the place of a file', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), at('snapshots', NAME));
    await expect(target.read('snapshots', NAME)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(target.write('snapshots', NAME, Buffer.of(1))).rejects.toThrow(FileExistsError);
  });

  test('goes on when a folder is missing, as after a restore from elsewhere', async () => {
    await rm(at('locks'), { recursive: true });
    await expect(target.write('locks', NAME, Buffer.of(1))).rejects.toMatchObject({ code: 'ENOENT' });
    await target.prepare();
    await rm(at('data'), { recursive: true });
    expect(await target.list('data')).toEqual([]);
  });
});
