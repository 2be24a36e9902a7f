import 'reflect-metadata';
import type { BulkPlanView } from '@headgate/api-contracts';
import { DomainError } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { Edge, unreachable } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';
const BOX = 'ct/lab/default/box';
const TWIN = 'vm/other/default/twin';

describe('POST /api/ext/bulk?dryRun=true', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
  });

  afterEach(() => edge.close());

  const plan = async (body: object): Promise<BulkPlanView> => {
    const answer = await edge.send('POST', '/api/ext/bulk?dryRun=true', body);
    expect([answer.status, answer.json.error]).toEqual([200, undefined]);
    return answer.json as unknown as BulkPlanView;
  };
  const change = (name: string, fields: object): void => {
    const vm = edge.lab.engine.all().find(({ ref }) => ref.name === name)!;
    edge.lab.engine.put({ ...vm, ...fields } as typeof vm);
  };
  const codes = ({ members }: BulkPlanView): unknown[] =>
    members.map(({ ref, refusals }) => [ref, ...refusals.map(({ code }) => code)]);

  test('has the plan of a single dry run for each member, once', async () => {
    const { members, ...whole } = await plan({ action: 'stop', force: true, refs: [WEB, DB, WEB] });
    const single = await edge.send('POST', '/api/vms/default/db/stop?dryRun=true&force=true');
    expect(members).toEqual([
      { ref: WEB, ok: true, steps: [{ name: 'stop', detail: 'web, by force' }], warnings: [], refusals: [] },
      { ref: DB, ok: true, ...single.json },
    ]);
    expect(whole).toEqual({
      ok: true,
      steps: [
        { name: 'stop by force', detail: WEB },
        { name: 'stop by force', detail: DB },
      ],
      warnings: [],
      refusals: [],
      unplanned: 0,
    });
  });

  test('refuses the start of a template, and plans the others', async () => {
    change('web', { isTemplate: true });
    const answer = await plan({ action: 'start', refs: [WEB, 'vm/lab/default/twin'] });
    expect([answer.ok, answer.refusals, codes(answer)]).toEqual([
      true,
      [],
      [[WEB, 'WRONG_STATE'], ['vm/lab/default/twin']],
    ]);
    expect(answer.steps).toEqual([{ name: 'start', detail: 'vm/lab/default/twin' }]);
  });

  test.each(['restart', 'pause', 'unpause'])('refuses to %s a stopped VM, as the request does', async (action) => {
    const answer = await plan({ action, refs: [WEB] });
    expect([answer.ok, codes(answer)]).toEqual([false, [[WEB, 'WRONG_STATE']]]);
    expect(answer.refusals).toEqual(answer.members[0]?.refusals);
    const done = await edge.send('POST', `/api/vms/default/web/${action}`, {});
    expect(done.json.code).toBe('WRONG_STATE');
  });

  test('refuses the deletion of a protected VM, and the migration of one that does not run or can not', async () => {
    change('db', { protected: true });
    expect(codes(await plan({ action: 'delete', refs: [WEB, DB] }))).toEqual([[WEB], [DB, 'WRONG_STATE']]);
    expect(codes(await plan({ action: 'migrate', refs: [WEB, TWIN] }))).toEqual([
      [WEB, 'WRONG_STATE'],
      [TWIN, 'WRONG_STATE'],
    ]);
  });

  test('refuses an action that containers do not have, and a member that does not exist', async () => {
    const none = 'vm/lab/default/none';
    const answer = await plan({ action: 'pause', refs: [DB, BOX, none] });
    expect(codes(answer)).toEqual([[DB], [BOX, 'NOT_SUPPORTED'], [none, 'INSTANCE_NOT_FOUND']]);
    expect(answer.warnings).toEqual([`${none} does not exist.`]);
  });

  test('refuses a member that is being deleted', async () => {
    change('web', { status: 'Terminating' });
    expect(codes(await plan({ action: 'start', refs: [WEB] }))).toEqual([[WEB, 'BUSY']]);
  });

  test('an unreachable context refuses only its members', async () => {
    edge.lab.require('migration').plan = () => Promise.reject(unreachable);
    change('twin', { status: 'Running' });
    const answer = await plan({ action: 'migrate', refs: [DB, 'vm/lab/default/twin'] });
    expect([answer.ok, codes(answer)]).toEqual([
      false,
      [
        [DB, 'BACKEND_UNREACHABLE'],
        ['vm/lab/default/twin', 'BACKEND_UNREACHABLE'],
      ],
    ]);
    expect(answer.refusals).toEqual([{ code: 'BACKEND_UNREACHABLE', reason: 'lab does not answer.', remedy: '' }]);
    edge.lab.require('provisioning').planDelete = () =>
      Promise.reject(new DomainError('BACKEND_FORBIDDEN', 'No permission.'));
    expect(codes(await plan({ action: 'delete', refs: [WEB, TWIN] }))).toEqual([[WEB, 'BACKEND_FORBIDDEN'], [TWIN]]);
  });

  test('refuses the whole plan, as the request does, when its caller may not touch a member', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const body = { action: 'start', refs: [WEB, DB] };
    for (const query of ['', '?dryRun=true']) {
      const bob = { 'tailscale-user-login': 'bob' };
      const answer = await edge.send('POST', `/api/ext/bulk${query}`, body, bob);
      expect([answer.status, answer.json.code]).toEqual([403, 'NOT_PERMITTED']);
    }
  });

  test('changes nothing, and begins no task', async () => {
    await plan({ action: 'delete', refs: [WEB, DB] });
    await plan({ action: 'stop', force: true, refs: [DB] });
    expect((await edge.send('GET', '/api/tasks')).json).toEqual([]);
    expect(edge.lab.engine.all().map(({ ref }) => ref.name)).toEqual(expect.arrayContaining(['web', 'db']));
  });
});
