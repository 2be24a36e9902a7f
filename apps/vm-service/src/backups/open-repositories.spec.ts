import type { BackupTarget } from '@headgate/domain-contracts';
import type { ResticRepository } from '@headgate/restic-repository';
import { FixedClock } from '@headgate/testing';
import { inspect } from 'node:util';
import { OpenRepositories } from './open-repositories.js';

const target = (id: string, more: Partial<BackupTarget> = {}): BackupTarget => ({
  owner: '',
  id,
  name: id,
  kind: 'directory',
  path: `/backups/${id}`,
  password: 'correct horse',
  creator: 'ann',
  createdAt: '2026-01-01T00:00:00Z',
  ...more,
});

describe('open repositories', () => {
  let clock: FixedClock;
  let repositories: OpenRepositories;
  let opened: string[];

  beforeEach(() => {
    clock = new FixedClock();
    repositories = new OpenRepositories(clock);
    opened = [];
  });
  afterEach(() => repositories.close());

  const get = (one: BackupTarget) =>
    repositories.get(one, async () => {
      opened.push(`${one.id} ${one.path} ${one.password}`);
      return { id: one.id } as ResticRepository;
    });

  test('are opened once by requests at the same time and after each other', async () => {
    await Promise.all([get(target('a')), get(target('a'))]);
    await get(target('a'));
    expect(opened).toHaveLength(1);
  });

  test('are opened again with another password or path, after a removal, and five minutes after their last use', async () => {
    await get(target('a'));
    await get(target('a', { password: 'another horse' }));
    await get(target('a', { path: '/backups/b' }));
    expect(opened).toHaveLength(3);
    repositories.drop('a');
    await get(target('a'));
    await clock.advance(4 * 60_000);
    await get(target('a'));
    await clock.advance(4 * 60_000);
    await get(target('a'));
    expect(opened).toHaveLength(4);
    await clock.advance(5 * 60_000);
    expect(repositories.size).toBe(0);
  });

  test('are 32 at most, and the one that was not used for the longest time goes', async () => {
    for (let index = 0; index < 32; index++) await get(target(`t${index}`));
    await get(target('t0'));
    await get(target('one-more'));
    expect(repositories.size).toBe(32);
    opened.length = 0;
    await get(target('t0'));
    await get(target('t1'));
    expect(opened).toEqual([expect.stringMatching(/^t1 /)]);
  });

  test('are not remembered when they could not be opened', async () => {
    const failing = repositories.get(target('a'), () => Promise.reject(new Error('The password is wrong.')));
    await expect(failing).rejects.toThrow('wrong');
    expect(repositories.size).toBe(0);
    await get(target('a'));
    expect(opened).toHaveLength(1);
  });

  test('keep no password', async () => {
    await get(target('a'));
    expect(inspect(repositories, { depth: 10, showHidden: true })).not.toContain('correct horse');
  });
});
