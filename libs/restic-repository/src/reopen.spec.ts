import { NotARepositoryError, WrongPasswordError } from './model/errors.js';
import type { MemoryTarget } from './testing/memory-target.js';
import { backUp, createSample, noise, readFile } from './testing/sample-repository.js';

describe('a repository that is opened again', () => {
  test('has what others have written meanwhile, and an index of its own', async () => {
    const { target, repository } = await createSample();
    const [first, second] = [await repository.again(target), await repository.again(target)];
    const disk = noise('disk', 4096);
    const id = await backUp(first, { disk });
    expect((await readFile(second, id, 'disk')).equals(disk)).toBe(true);
    expect(second.id).toBe(repository.id);
  });

  test('is refused once it is gone, its key was removed, or another one has its place', async () => {
    const { target, repository } = await createSample();
    const memory = target as MemoryTarget;
    const [key = ''] = memory.names('keys');
    const content = memory.contents.get(key)!;
    memory.contents.delete(key);
    await expect(repository.again(target)).rejects.toThrow(WrongPasswordError);
    memory.contents.set(key, content);
    await repository.again(target);
    const { target: other } = await createSample();
    const config = memory.contents.get('config/config')!;
    memory.contents.set('config/config', (other as MemoryTarget).contents.get('config/config')!);
    await expect(repository.again(target)).rejects.toThrow(WrongPasswordError);
    memory.contents.set('config/config', config);
    await repository.again(target);
    memory.contents.clear();
    await expect(repository.again(target)).rejects.toThrow(NotARepositoryError);
  });

  test('knows whether another process excludes writers', async () => {
    const { target, repository } = await createSample();
    await repository.backup({ hostname: 'node-a', paths: ['/a'], tags: [], time: new Date(0) }, async () =>
      repository.expectWritable(),
    );
    const met: unknown[] = [];
    (target as MemoryTarget).intercept = async (operation, type) => {
      if (operation !== 'list' || type !== 'index' || met.length > 0) return;
      met.push(await repository.expectWritable().catch((error: unknown) => error));
    };
    await repository.prune();
    expect(met).toMatchObject([{ holder: { exclusive: true } }]);
    await repository.expectWritable();
  });
});
