import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataFolder } from './data-folder.js';

describe('DataFolder', () => {
  let parent: string;
  let path: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'data-folder-'));
    path = join(parent, 'data');
  });
  afterEach(() => rm(parent, { recursive: true }));

  test('is created, readable by its owner only', async () => {
    DataFolder.claim(path).release();
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  test('belongs to one process at a time', () => {
    const first = DataFolder.claim(path);
    expect(() => DataFolder.claim(path)).toThrow(`${path} is in use by another process`);
    first.release();
    first.release();
    DataFolder.claim(path).release();
  });
});
