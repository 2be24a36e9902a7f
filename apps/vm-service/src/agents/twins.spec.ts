import 'reflect-metadata';
import { MemoryBackend } from '@headgate/testing';
import type { KubeObject } from '@headgate/kube-sandbox';
import type { ApprovalView, TwinRunView } from '@headgate/api-contracts';
import { Edge } from '../testing/edge.js';
import { AgentClient, createAgentToken, LEASH, type RehearsalResult } from './testing/agent-client.js';
import { NAMESPACE, refOf, TwinLab } from './testing/twin-lab.js';

const VMS = [
  { name: 'web', status: 'Stopped', memory: '512Mi' },
  { name: 'db', status: 'Running', memory: '512Mi' },
  // Needs the room of the large one on its node.
  { name: 'waiting', status: 'Stopped', memory: '100Gi', runStrategy: 'Always' },
  { name: 'large-1', status: 'Running', memory: '100Gi', node: 'node-a' },
  { name: 'large-2', status: 'Running', memory: '100Gi', node: 'node-b' },
  { name: 'large-3', status: 'Running', memory: '100Gi', node: 'node-c' },
  { name: 'large-4', status: 'Running', memory: '100Gi', node: 'node-d' },
] as const;
const URL = '/api/ext/twins';

type Rehearsed = RehearsalResult & {
  readonly twin: NonNullable<TwinRunView['twin']> & { code?: string; error?: string };
};

describe('A twin', () => {
  let lab: TwinLab;
  const post = async (body: object, headers: Record<string, string> = {}) => {
    const { status, json } = await lab.send('POST', URL, body, headers);
    return { status, json: json as unknown as TwinRunView & { code: string; error: string } };
  };
  const agentOf = async (options: Record<string, unknown>): Promise<AgentClient> =>
    new AgentClient(lab.base, (await createAgentToken(lab, options)).text).open();
  const start = { action: 'start', refs: [refOf('web')] };

  beforeEach(async () => {
    lab = await TwinLab.create(VMS);
  });
  afterEach(() => lab.close());

  test('changes nothing in the cluster, and leaves no watch open in it', async () => {
    lab.sandbox.requests.reset();
    const { status, json } = await post(start);
    expect([status, json.twin?.instances[0]?.after?.status]).toEqual([200, 'Running']);
    const sent = Object.keys(lab.sandbox.requests.summary()).map((request) => request.split(' ')[0]);
    expect([...new Set(sent)].sort()).toEqual(['get', 'list']);
    expect(lab.sandbox.requests.count({ resource: 'secrets' })).toBe(0);
    expect((await lab.list()).get('web')?.status).toBe('Stopped');
    expect((await lab.send('GET', '/api/tasks')).json).toEqual([]);
  });

  test('names the limits of the simulation, and the time of the objects', async () => {
    const { twin } = (await post(start)).json;
    expect(twin).toMatchObject({ simulated: true, settled: true, context: 'lab', differences: [] });
    expect(Date.now() - Date.parse(twin?.readAt ?? '')).toBeLessThan(60_000);
    expect(twin?.notes).toEqual(expect.arrayContaining([expect.stringContaining('No real guest runs')]));
  });

  test('shows other instances that change as well', async () => {
    const { twin } = (await post({ action: 'stop', refs: [refOf('large-1')] })).json;
    expect(twin?.instances).toMatchObject([{ after: { status: 'Stopped' } }]);
    expect(twin?.others).toMatchObject([
      { ref: refOf('waiting'), before: { status: 'ErrorUnschedulable' }, after: { status: 'Running', node: 'node-a' } },
    ]);
  });

  test('does not show instances that an agent may not read', async () => {
    const agent = await agentOf({ scope: { kind: 'vm', q: 'large-1' } });
    const rehearsal = (await agent.rehearse({ action: 'stop', refs: [refOf('large-1')], twin: true })) as Rehearsed;
    expect(rehearsal.twin.instances).toMatchObject([{ ref: refOf('large-1'), after: { status: 'Stopped' } }]);
    expect(rehearsal.twin.others).toEqual([]);
    expect(JSON.stringify(rehearsal)).not.toContain('waiting"');
    expect(await agent.rehearse({ action: 'stop', refs: [refOf('db')], twin: true })).toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    await agent.close();
  });

  test('needs the right to the change itself', async () => {
    const { json } = await lab.send('POST', '/api/ext/tokens', { name: 'reader', actions: ['read'] });
    const headers = { authorization: `Bearer ${String(json['token'])}` };
    expect((await post(start, headers)).json).toMatchObject({ code: 'NOT_PERMITTED' });
  });

  test('is no part of the hash, waits with the commit, and is shown to those who approve it', async () => {
    const agent = await agentOf({ agent: { ...LEASH, approval: 'all' } });
    const plain = await agent.rehearse(start);
    const rehearsal = (await agent.rehearse({ ...start, twin: true })) as Rehearsed;
    expect(rehearsal.hash).toBe(plain.hash);
    expect(await agent.commit(rehearsal)).toMatchObject({ status: 'waiting' });
    const [waiting] = (await lab.send('GET', '/api/ext/approvals')).json as unknown as ApprovalView[];
    expect(waiting?.twin).toMatchObject({ simulated: true, instances: [{ ref: refOf('web') }] });
    await agent.close();
  });

  test('exists once at a time: a second caller gets BUSY, and the plan all the same', async () => {
    const agent = await agentOf({});
    const [first, second] = await Promise.all([post(start), agent.rehearse({ ...start, twin: true })]);
    const other = second as Rehearsed;
    expect([first.json.code, other.twin.code].filter(Boolean)).toEqual(['BUSY']);
    expect(other.hash).toMatch(/^[0-9a-f]{64}$/);
    expect((await post(start)).status).toBe(200);
    await agent.close();
  });

  test('reports a VM that was deleted after the plan', async () => {
    const agent = await agentOf({});
    const clear = lab.sandbox.faults.delay({ verb: 'list', resource: 'kubevirts.kubevirt.io' }, 300);
    lab.sandbox.requests.reset();
    const rehearsing = agent.rehearse({ ...start, twin: true });
    await lab.until(
      async () => lab.sandbox.requests.count({ verb: 'list', resource: 'kubevirts.kubevirt.io' }) > 0,
      'the objects are read',
    );
    lab.sandbox.store.delete('virtualmachines.kubevirt.io', { namespace: NAMESPACE, name: 'web' });
    await lab.until(async () => !(await lab.list()).has('web'), 'the VM is gone');
    clear();
    const { twin } = (await rehearsing) as Rehearsed;
    expect(twin.instances).toMatchObject([{ ref: refOf('web'), error: expect.stringContaining('no longer existed') }]);
    await agent.close();
  });

  test('refuses changes that it can not simulate, with a sentence', async () => {
    await lab.send('POST', '/api/folders', { path: 'prod' });
    expect((await post({ action: 'folder', refs: [refOf('web')], folder: 'prod' })).json).toMatchObject({
      code: 'NOT_SUPPORTED',
      error: 'Folders are records of this service: a twin shows nothing of them.',
    });
    expect((await post({ ...start, refs: undefined })).json).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await post({ ...start, refs: [refOf('nothing')] })).json).toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });
});

test('a context without a twin says why', async () => {
  const edge = await new Edge(new MemoryBackend('lab')).open();
  await edge.send('GET', '/api/vms');
  const { status, json } = await edge.send('POST', URL, { action: 'start', refs: ['vm/lab/default/web'] });
  expect([status, json.code, json.error]).toEqual([
    501,
    'NOT_SUPPORTED',
    'Nothing simulates a backend in memory, so it has no twin.',
  ]);
  await edge.close();
});

test('an account that may not read nodes gets invented ones, and a note', async () => {
  const { RBAC_RULES } = await import('@headgate/kube-adapter');
  const lab = await TwinLab.create(VMS, { user: 'service', roles: ['service'] }, (sandbox) =>
    sandbox.store.create('clusterroles.rbac.authorization.k8s.io', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'service' },
      rules: RBAC_RULES.map(({ resources, ...rule }) => ({
        ...rule,
        resources: resources.filter((one) => one !== 'nodes'),
      })),
    } as KubeObject),
  );
  const { json } = await lab.send('POST', URL, { action: 'start', refs: [refOf('web')] });
  const { twin } = json as unknown as TwinRunView;
  expect(twin?.instances).toMatchObject([{ after: { status: 'Running' } }]);
  expect(twin?.notes).toEqual(
    expect.arrayContaining([expect.stringMatching(/^The nodes could not be read: \d+ invented/)]),
  );
  await lab.close();
});
