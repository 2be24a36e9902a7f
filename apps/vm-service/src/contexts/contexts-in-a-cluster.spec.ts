import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import type { ContextTestView } from '@headgate/api-contracts';
import type { KubeSandbox } from '@headgate/kube-sandbox';
import { AddingEdge } from '../testing/adding-edge.js';

const CONTEXTS = '/api/ext/contexts';
const VM = 'virtualmachines.kubevirt.io';

describe('a cluster that is added while the service runs', () => {
  let edge: AddingEdge;
  let sandbox: KubeSandbox;

  beforeEach(async () => {
    const [{ KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const simulation = new KubevirtSimulation({ timeScale: 0 });
    sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedVm({
      name: 'far',
      namespace: 'tailvm',
      status: 'Stopped',
      cpu: 1,
      memory: '256Mi',
      disk: '16Mi',
    });
    edge = await new AddingEdge().open();
  });
  afterEach(async () => {
    await edge.close();
    await sandbox.close();
  });

  const request = (kubeconfig = sandbox.kubeconfig()) => ({ name: 'far', kind: 'kubevirt', settings: { kubeconfig } });
  const refs = async (): Promise<string[]> =>
    ((await edge.send('GET', '/api/vms')).json as unknown as { ref: string }[]).map(({ ref }) => ref);
  const started = async (): Promise<void> => {
    while ((await edge.send('GET', '/api/vms')).status !== 200) await new Promise((resolve) => setImmediate(resolve));
  };

  test('is tested without a change, added, operated, kept over a restart, and removed without a change', async () => {
    const before = sandbox.store.list(VM);
    const tested = await edge.send('POST', `${CONTEXTS}/test`, request());
    const { ok, checks } = tested.json as unknown as ContextTestView;
    expect([tested.status, ok]).toEqual([200, true]);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'api', status: 'ok' }));
    expect(checks).toContainEqual(expect.objectContaining({ name: 'kubevirt', status: 'ok' }));
    expect(sandbox.store.list(VM)).toEqual(before);

    const added = await edge.send('POST', CONTEXTS, request());
    expect(added.json['context']).toMatchObject({
      state: 'up',
      settings: { server: sandbox.url, user: expect.any(String) },
    });
    expect(await refs()).toContain('vm/far/tailvm/far');
    expect((await edge.send('POST', '/api/vms/tailvm/far/start')).status).toBe(200);

    await edge.reopen();
    await started();
    while (!(await refs()).includes('vm/far/tailvm/far')) await new Promise((resolve) => setImmediate(resolve));
    const kept = sandbox.store.list(VM).map(({ metadata }) => metadata.uid);
    expect((await edge.send('DELETE', `${CONTEXTS}/far`)).status).toBe(200);
    expect(await refs()).not.toContain('vm/far/tailvm/far');
    expect(sandbox.store.list(VM).map(({ metadata }) => metadata.uid)).toEqual(kept);
    expect(readdirSync(edge.folder)).not.toContain('fetch');
  });

  test('is refused with credentials that it does not accept', async () => {
    const { json } = await edge.send(
      'POST',
      `${CONTEXTS}/test`,
      request(sandbox.kubeconfig().replace(/token: .*/, 'token: wrong')),
    );
    expect(json['ok']).toBe(false);
    expect(json['checks']).toContainEqual(
      expect.objectContaining({ name: 'api', status: 'error', message: expect.stringContaining('credentials') }),
    );
  });

  test('never runs the program of a kubeconfig', async () => {
    const text = sandbox
      .kubeconfig()
      .replace(/token: .*/, 'exec: { command: /bin/false, apiVersion: client.authentication.k8s.io/v1 }');
    const { status, json } = await edge.send('POST', CONTEXTS, { ...request(text), despiteErrors: true });
    expect([status, json.error]).toEqual([400, expect.stringContaining('it runs a program')]);
  });
});
