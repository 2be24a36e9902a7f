import 'reflect-metadata';
import { MetricsSampler } from '@headgate/metrics';
import type { VirtualMachine } from '@headgate/domain-contracts';
import { Edge } from '../testing/edge.js';

const DB = 'vm/lab/default/db';
const MAX_TURNS = 20_000;

describe('the records of a VM that was migrated to another context', () => {
  let edge: Edge;
  let db: VirtualMachine;

  beforeEach(async () => {
    edge = await new Edge().open();
    await edge.send('GET', '/api/vms');
    db = edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' });
    await edge.send('POST', '/api/folders', { path: 'prod/db' });
    await edge.send('POST', '/api/folders/members', { path: 'prod/db', ref: DB });
  });

  afterEach(() => edge.close());

  const arrive = (): void => edge.other.engine.put({ ...db, ref: { ...db.ref, context: 'other' } });
  const leave = (): void => edge.lab.engine.remove(db.ref);
  const foldersOf = async (): Promise<unknown[]> =>
    ((await edge.send('GET', '/api/vms?q=db')).json as unknown as Record<string, unknown>[]).map((vm) => [
      vm['context'],
      vm['folder'],
    ]);
  const missing = async (): Promise<unknown> =>
    ((await edge.send('GET', '/api/folders')).json['folders'] as { path: string; missing: unknown }[]).find(
      ({ path }) => path === 'prod/db',
    )?.missing;
  const until = async (isMet: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS && !(await isMet()); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await isMet()).toBe(true);
  };
  /** Folders are changed one after the other, so nothing that was begun before is left. */
  const settled = async (): Promise<void> => {
    expect((await edge.send('POST', '/api/folders', { path: 'later' })).status).toBe(200);
  };
  const expectFollowed = async (): Promise<void> => {
    await until(async () => JSON.stringify([await foldersOf(), await missing()]) === '[[["other","prod/db"]],[]]');
  };

  test('follow it when the destination lists it first, as a live migration does', async () => {
    arrive();
    await until(async () => (await foldersOf()).length === 2);
    expect(await foldersOf()).toEqual([
      ['lab', 'prod/db'],
      ['other', undefined],
    ]);
    leave();
    await expectFollowed();
  });

  test('follow it when the source no longer lists it first', async () => {
    leave();
    await until(async () => (await foldersOf()).length === 0);
    arrive();
    await expectFollowed();
  });

  test('give a token with the scope of the folder the same VM', async () => {
    const token = await edge.send('POST', '/api/ext/tokens', {
      name: 'deploy',
      scope: { folder: 'prod' },
      actions: ['power'],
    });
    expect(token.status).toBe(201);
    arrive();
    leave();
    await expectFollowed();
    const headers = { authorization: `Bearer ${String(token.json['token'])}` };
    const list = await edge.send('GET', '/api/vms', undefined, headers);
    expect(list.json).toMatchObject([{ context: 'other', name: 'db' }]);
  });

  test('contain the samples of its usage', async () => {
    const sampler = edge.service.app.get(MetricsSampler, { strict: false });
    const carried: unknown[] = [];
    sampler.carryOver = (from, to) => void carried.push([from, to.ref.context]);
    arrive();
    leave();
    await expectFollowed();
    await until(async () => carried.length > 0);
    expect(carried).toEqual([[{ ref: db.ref, uid: db.uid }, 'other']]);
  });

  test('stay with the old ref when another VM has its name there', async () => {
    edge.other.engine.put({ ...db, uid: 'another', ref: { ...db.ref, context: 'other' } });
    leave();
    await until(async () => (await foldersOf()).length === 1);
    await settled();
    expect([await foldersOf(), await missing()]).toEqual([[['other', undefined]], [DB]]);
  });

  test('stay with the old ref when its context is only lost', async () => {
    arrive();
    edge.lab.engine.disconnect();
    await until(async () => (await foldersOf()).length === 2);
    await settled();
    expect(await foldersOf()).toEqual([
      ['lab', 'prod/db'],
      ['other', undefined],
    ]);
  });

  test('do not replace the folder that was chosen at the destination meanwhile', async () => {
    arrive();
    await edge.send('POST', '/api/folders', { path: 'new' });
    await until(async () => (await foldersOf()).length === 2);
    await edge.send('POST', '/api/folders/members', { path: 'new', ref: 'vm/other/default/db' });
    leave();
    await until(async () => JSON.stringify([await foldersOf(), await missing()]) === '[[["other","new"]],[]]');
  });
});
