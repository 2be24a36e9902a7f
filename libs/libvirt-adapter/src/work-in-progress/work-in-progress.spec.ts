import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { WorkInProgress } from './work-in-progress.js';

describe('WorkInProgress', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'progress-spec-'))));
  afterEach(() => rm(folder, { recursive: true }));

  test('removes what an earlier run left behind, and nothing of this run', async () => {
    for (const leftover of ['fetching/image-killed', 'temporary/xml-killed']) {
      await mkdir(join(folder, leftover), { recursive: true });
      await writeFile(join(folder, leftover, 'source'), 'half an image');
    }
    const progress = new WorkInProgress(folder);
    const [download, temporary] = [await progress.createFolder(), await progress.createTemporaryFolder()];
    await progress.sweep();
    expect(await readdir(join(folder, 'fetching'))).toEqual([basename(download)]);
    expect(await readdir(join(folder, 'temporary'))).toEqual([basename(temporary)]);
  });

  test('removes no folder that is created during the sweep', async () => {
    const progress = new WorkInProgress(folder);
    await progress.createFolder();
    for (let round = 0; round < 100; round++) {
      const creations = Array.from({ length: 8 }, () => progress.createFolder());
      // At one of several moments of the creations.
      for (let turn = 0; turn < round % 5; turn++) await new Promise(setImmediate);
      await progress.sweep();
      for (const created of await Promise.all(creations)) expect(await readdir(created)).toEqual([]);
    }
  });

  test('keeps the identity of the service, and sweeps a folder that does not exist', async () => {
    const identity = new WorkInProgress(folder).mark();
    await new WorkInProgress(folder).sweep();
    await new WorkInProgress(join(folder, 'none')).sweep();
    expect(new WorkInProgress(folder).mark()).toBe(identity);
  });
});
