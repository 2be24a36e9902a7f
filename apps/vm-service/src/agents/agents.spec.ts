import 'reflect-metadata';
import { MemoryBackend } from '@headgate/testing';
import { Edge } from '../testing/edge.js';
import { AgentClient, createAgentToken, LEASH } from './testing/agent-client.js';

const WEB = 'vm/lab/default/web';
const DB = 'vm/lab/default/db';

describe('An agent', () => {
  let edge: Edge;
  let agent: AgentClient;
  let token: { readonly id: string; readonly text: string };

  const open = async (options: Record<string, unknown> = {}): Promise<void> => {
    token = await createAgentToken(edge, options);
    agent = await new AgentClient(edge.base, token.text).open();
  };
  const status = async (name: string): Promise<unknown> =>
    ((await edge.send('GET', '/api/vms')).json as unknown as { name: string; context: string; status: string }[]).find(
      (vm) => vm.name === name && vm.context === 'lab',
    )?.status;

  beforeEach(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
    await edge.send('GET', '/api/vms');
  });
  afterEach(async () => {
    await agent?.close();
    await edge.close();
  });

  test('reads within its grant', async () => {
    await open({ scope: { kind: 'vm', context: 'lab' } });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('rehearse');
    const list = await agent.call<{ instances: { ref: string }[] }>('list_instances', { q: 'web' });
    expect(list.instances.map(({ ref }) => ref)).toEqual([WEB]);
    expect(await agent.call('get_instance', { ref: DB })).toMatchObject({ status: 'Running' });
    expect(await agent.call('get_instance', { ref: 'vm/other/default/twin' })).toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    expect(await agent.call('get_health')).toMatchObject({ code: 'NOT_PERMITTED' });
    expect(await agent.call('get_leash')).toMatchObject({ changesLeft: 100 });
  });

  test('rehearses a change, which changes nothing, and commits it', async () => {
    await open();
    const rehearsal = await agent.rehearse({ action: 'stop', refs: [DB] });
    expect(rehearsal).toMatchObject({
      refs: [DB],
      changes: 1,
      needsApproval: false,
      plan: { steps: [{ name: 'stop' }] },
    });
    expect(await status('db')).toBe('Running');
    expect(await agent.commit(rehearsal, 'Maintenance\nof the disks.')).toMatchObject({ status: 'done' });
    expect(await status('db')).not.toBe('Running');
    const [entry] = await agent.call<{ message: string }[]>('read_journal', { ref: DB });
    expect(entry).toMatchObject({
      action: 'stop',
      message: 'By the agent agent, which said: "Maintenance of the disks.".',
    });
    expect(await agent.commit(rehearsal)).toMatchObject({ code: 'CONFLICT' });
  });

  test.each([
    ['start', { action: 'start', refs: [WEB] }],
    ['tag', { action: 'tag', refs: [WEB], tag: 'new' }],
    ['snapshot', { action: 'snapshot', refs: [WEB] }],
    ['named snapshot', { action: 'snapshot', refs: [WEB], snapshot: 'mine' }],
    ['restore-snapshot', { action: 'restore-snapshot', refs: [WEB], snapshot: 'one' }],
    ['delete-snapshot', { action: 'delete-snapshot', refs: [WEB], snapshot: 'one' }],
    ['hardware', { action: 'hardware', refs: [WEB], changes: [{ kind: 'scale', cpu: 4 }] }],
    ['folder', { action: 'folder', refs: [WEB], folder: 'prod' }],
    ['unfolder', { action: 'unfolder', refs: [DB] }],
    ['migrate', { action: 'migrate', refs: [DB] }],
    ['delete', { action: 'delete', refs: [WEB] }],
    ['stop of a container', { action: 'stop', refs: ['ct/lab/default/box'] }],
  ])('can %s', async (_name, args) => {
    await open();
    await edge.send('POST', '/api/folders', { path: 'prod' });
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB });
    await edge.send('POST', '/api/vms/default/web/snapshots', { name: 'one' });
    const rehearsal = await agent.rehearse(args);
    expect(rehearsal.error).toBeUndefined();
    expect(rehearsal).toMatchObject({ hash: expect.any(String) });
    expect(await agent.commit(rehearsal)).toMatchObject({ status: 'done' });
  });

  test('changes many instances in a bulk task, each as it was rehearsed', async () => {
    await open();
    const rehearsal = await agent.rehearse({ action: 'snapshot', query: { context: 'lab' } });
    expect(rehearsal.refs).toEqual([DB, 'vm/lab/default/twin', WEB]);
    const { task } = await agent.commit(rehearsal);
    const ended = await edge.logged(task, 'never');
    expect(ended).toMatchObject({ bulk: { counts: { done: 3, error: 0 } } });
    expect(await agent.call('get_task', { id: task })).toMatchObject({ status: 'done' });
    expect(await agent.call('get_commit', { id: rehearsal.id })).toMatchObject({ status: 'done', task });
    expect(await agent.call('get_leash')).toMatchObject({ changesLeft: 97 });
  });

  test('has a leash that administrators see and change', async () => {
    await open({ agent: { ...LEASH, approval: 'all' } });
    const list = async () => (await edge.send('GET', '/api/ext/tokens')).json as unknown as Record<string, unknown>[];
    expect(await list()).toMatchObject([
      { agent: { ...LEASH, approval: 'all' }, stopped: false, actions: expect.arrayContaining(['delete']) },
    ]);
    const changed = await edge.send('PATCH', `/api/ext/tokens/${token.id}`, { agent: { changesPerHour: 1 } });
    expect(changed.json).toMatchObject({ agent: { ...LEASH, approval: 'all', changesPerHour: 1 } });
    for (const wrong of [{ changesPerHour: 0 }, { maxPercentOfFolder: 101 }, { approval: 'never' }, { more: 1 }]) {
      const body = { name: 'wrong', actions: ['read'], agent: { ...LEASH, ...wrong } };
      expect((await edge.send('POST', '/api/ext/tokens', body)).status).toBe(400);
    }
  });

  test('has no commit that waits any more once its token is revoked', async () => {
    await open({ agent: { ...LEASH, approval: 'all' } });
    const rehearsal = await agent.rehearse({ action: 'stop', refs: [DB] });
    await agent.commit(rehearsal);
    const listed = async () => (await edge.send('GET', '/api/ext/approvals')).json;
    // A change of the token asks for no other approval.
    await edge.send('PATCH', `/api/ext/tokens/${token.id}`, { days: 3 });
    expect(await listed()).toMatchObject([{ id: rehearsal.id }]);
    expect((await edge.send('DELETE', `/api/ext/tokens/${token.id}`, {})).status).toBe(200);
    expect(await listed()).toEqual([]);
    const approved = await edge.send('POST', `/api/ext/approvals/${rehearsal.id}/approve`, {});
    expect(approved.json).toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect(await status('db')).toBe('Running');
  });

  test('waits for an approval, of a user', async () => {
    await open({ agent: { ...LEASH, approval: 'destructive' } });
    const rehearsal = await agent.rehearse({ action: 'delete', refs: [WEB] });
    expect(rehearsal).toMatchObject({ destructive: true, needsApproval: true });
    expect(await agent.commit(rehearsal, 'Not used.')).toMatchObject({ status: 'waiting' });
    const approve = `/api/ext/approvals/${rehearsal.id}/approve`;
    const bearer = { authorization: `Bearer ${token.text}` };
    expect((await edge.send('POST', approve, {}, bearer)).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/approvals', undefined, bearer)).json).toEqual([]);
    const other = await createAgentToken(edge, { name: 'second' });
    expect((await edge.send('POST', approve, {}, { authorization: `Bearer ${other.text}` })).status).toBe(403);
    expect((await edge.send('GET', '/api/ext/approvals')).json).toMatchObject([
      { id: rehearsal.id, agent: 'agent', action: 'delete', reason: 'Not used.', refs: [WEB], destructive: true },
    ]);
    expect(await status('web')).toBe('Stopped');
    expect((await edge.send('POST', approve, {})).json).toMatchObject({ status: 'done' });
    expect(await status('web')).toBeUndefined();
    expect(await agent.call('get_commit', { id: rehearsal.id })).toMatchObject({ status: 'done' });
    expect((await edge.send('POST', approve, {})).json).toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect((await edge.send('POST', '/api/ext/approvals/none/approve', {})).status).toBe(400);
  });

  test('is rejected', async () => {
    await open({ agent: { ...LEASH, approval: 'all' } });
    const rehearsal = await agent.rehearse({ action: 'stop', refs: [DB] });
    await agent.commit(rehearsal);
    expect((await edge.send('POST', `/api/ext/approvals/${rehearsal.id}/reject`, {})).json).toMatchObject({
      status: 'rejected',
    });
    expect(await agent.call('get_commit', { id: rehearsal.id })).toMatchObject({ status: 'rejected' });
    expect(await status('db')).toBe('Running');
  });

  test('is stopped, also after a restart, and resumed', async () => {
    await open({ agent: { ...LEASH, approval: 'all' } });
    const rehearsal = await agent.rehearse({ action: 'stop', refs: [DB] });
    await agent.commit(rehearsal);
    const dry = await edge.send('POST', '/api/ext/agents/stop?dryRun=true', {});
    expect([dry.status, dry.json]).toMatchObject([200, { steps: [{ name: 'stop agent', detail: 'agent' }] }]);
    const resumable = await edge.send('POST', '/api/ext/agents/resume?dryRun=true', { token: token.id });
    expect(resumable.json).toMatchObject({ steps: [{ name: 'resume agent' }] });
    expect((await edge.send('POST', '/api/ext/agents/stop', {})).json).toEqual({ tokens: [token.id], canceled: 1 });
    expect((await edge.send('GET', '/api/ext/approvals')).json).toEqual([]);
    await expect(agent.call('get_leash')).rejects.toThrow('An administrator has stopped the agent');
    await edge.reopen();
    const bearer = { authorization: `Bearer ${token.text}` };
    expect((await edge.send('GET', '/api/vms', undefined, bearer)).status).toBe(403);
    const resumed = await edge.send('POST', '/api/ext/agents/resume', { token: token.id });
    expect(resumed.json).toEqual({ tokens: [token.id], canceled: 0 });
    expect((await edge.send('GET', '/api/vms', undefined, bearer)).status).toBe(200);
    expect(await status('db')).toBe('Running');
    const unknown = await edge.send('POST', '/api/ext/agents/stop', { token: 'aaaaaaaaaa' });
    expect(unknown.json.code).toBe('TOKEN_NOT_FOUND');
  });
});
