import type { MoveQueuePlanView, PlanView, StatusView, TaskView, VmView } from '@headgate/api-contracts';
import { extensionPath, instancePath, type InstanceAddress } from './instance-path.js';
import { deleteJson, getJson, postJson } from './request.js';

const vm: InstanceAddress = { context: 'lab', namespace: 'default', name: 'web 1' };
const path = instancePath('vms', vm);

// The compiler checks the types, which the target typecheck runs. An expected error that is missing is an error as
// well.
describe('a request', () => {
  let sent: [method: string, path: string][];
  beforeEach(() => {
    sent = [];
    globalThis.fetch = (url, options) => {
      sent.push([options?.method ?? '', String(url)]);
      return Promise.resolve({ ok: true, json: () => Promise.resolve({}) } as Response);
    };
  });

  test('has the response of its route', async () => {
    const list: VmView[] = await getJson('/api/vms', { query: { limit: 2, usage: 'true' } });
    const task: TaskView = await getJson(`/api/tasks/${encodeURIComponent('a/b')}`);
    const done: StatusView = await deleteJson(path, { query: { context: vm.context } });
    const tag: { tag: string } = await postJson(`${path}/tags`, { body: { tag: 'a', on: true } });
    expect([list, task, done, tag]).toHaveLength(4);
    expect(sent).toEqual([
      ['GET', '/api/vms?limit=2&usage=true'],
      ['GET', '/api/tasks/a%2Fb'],
      ['DELETE', '/api/vms/default/web%201?context=lab'],
      ['POST', '/api/vms/default/web%201/tags'],
    ]);
  });

  test('has the plan as its response in a dry run only', async () => {
    const plan: PlanView = await deleteJson(path, { query: { dryRun: true } });
    // @ts-expect-error: without a dry run, the response is a status.
    const status: PlanView = await deleteJson(path);
    // @ts-expect-error: the plan of a queue has members.
    const queue: MoveQueuePlanView = await postJson(`${path}/start`, { query: { dryRun: true } });
    expect([plan, status, queue]).toHaveLength(3);
  });

  test('does not compile with a path, a query or a body that its route does not have', async () => {
    // @ts-expect-error: there is no such path.
    await getJson('/api/vm');
    // @ts-expect-error: hardware is an extension.
    const wrong: { cpu: number } = await getJson(`${path}/hardware`);
    const hardware: { cpu: number } = await getJson(`${extensionPath(vm)}/hardware`);
    // @ts-expect-error: the list is not created.
    await postJson('/api/nodes');
    // @ts-expect-error: a limit is a number.
    await getJson('/api/vms', { query: { limit: '2' } });
    // @ts-expect-error: a tag has a name.
    await postJson(`${path}/tags`, { body: { on: true } });
    // @ts-expect-error: the deletion has no body.
    await deleteJson(path, { body: { force: true } });
    expect([wrong, hardware]).toHaveLength(2);
  });
});
