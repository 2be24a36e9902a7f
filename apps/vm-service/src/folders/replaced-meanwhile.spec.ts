import 'reflect-metadata';
import { DomainError } from '@headgate/domain-contracts';
import { buildVm, withStatus } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';

const WEB = 'vm/lab/default/web';
const PATH = '/api/vms/default/web';

/**
 * A change waits for another one. Meanwhile, another program replaces its VM by one that the caller has no rights on.
 */
describe('a change that waits while its VM is replaced', () => {
  let edge: Edge;
  let token: Record<string, string>;
  let calls: string[];
  let held: { begun: PromiseWithResolvers<void>; ended: PromiseWithResolvers<void> };

  const vm = (uid: string) => withStatus(buildVm({ ref: { context: 'lab', name: 'web' }, uid }), 'Stopped');

  beforeEach(async () => {
    edge = await new Edge().open();
    await edge.send('POST', '/api/folders', { path: 'prod' });
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: WEB });
    const request = { name: 'ci', actions: ['power', 'change', 'delete'], scope: { folder: 'prod' } };
    const { json } = await edge.send('POST', '/api/ext/tokens', request);
    token = { authorization: `Bearer ${String(json['token'])}` };
    calls = [];
    held = { begun: Promise.withResolvers(), ended: Promise.withResolvers() };
    const record = (name: string) => async (): Promise<never> => {
      calls.push(name);
      throw new Error(`${name} was called`);
    };
    const provisioning = edge.lab.require('provisioning');
    provisioning.setTag = () => {
      provisioning.setTag = record('tag');
      held.begun.resolve();
      return held.ended.promise;
    };
    provisioning.delete = record('delete');
    edge.lab.require('power').apply = record('power');
    edge.lab.require('hardware').apply = record('hardware');
    edge.lab.require('snapshots').create = record('snapshot');
    edge.lab.require('cloning').setTemplate = record('template');
  });

  afterEach(() => edge.close());

  test.each<[string, string, object | undefined]>([
    ['POST', `${PATH}/start`, undefined],
    ['DELETE', PATH, undefined],
    ['POST', `${PATH}/tags`, { tag: 'blue', on: true }],
    ['POST', `${PATH}/scale`, { cpu: 3 }],
    ['POST', `${PATH}/snapshots`, { name: 'one' }],
    ['POST', `${PATH}/template`, { on: true }],
  ])('is refused: %s %s', async (method, path, body) => {
    const first = edge.send('POST', `${PATH}/tags`, { tag: 'red', on: true });
    await held.begun.promise;
    const waiting: Promise<Reply> = edge.send(method, path, body, token);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    edge.lab.engine.remove(vm('').ref);
    edge.lab.engine.put(vm('uid-another'));
    held.ended.reject(new DomainError('WRONG_STATE', 'It is kept.'));
    const { status, json } = await waiting;
    expect([status, json.code, calls]).toEqual([404, 'INSTANCE_NOT_FOUND', []]);
    expect((await first).status).toBe(409);
  });
});
