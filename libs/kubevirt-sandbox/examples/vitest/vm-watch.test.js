import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchStarts } from './vm-watch.js';

let sandbox;
let simulation;
let kubeConfig;
let watch;

beforeEach(async () => {
  // Every transition of the simulated cluster happens immediately.
  simulation = new KubevirtSimulation({ timeScale: 0 });
  sandbox = await KubeSandbox.listen({ extensions: [simulation] });
  simulation.seedVm({ name: 'db' }, { name: 'web', status: 'Stopped' });
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(sandbox.kubeconfig());
});
afterEach(async () => {
  watch?.abort();
  await sandbox.close();
});

const start = (name) =>
  fetch(`${sandbox.url}/apis/subresources.kubevirt.io/v1/namespaces/tailvm/virtualmachines/${name}/start`, {
    method: 'PUT',
  });

test('reports the VMs that run, and one that is started', async () => {
  const onRunning = vi.fn();
  watch = await watchStarts(kubeConfig, onRunning);
  await vi.waitFor(() => expect(onRunning).toHaveBeenCalledWith('db'));
  expect((await start('web')).status).toBe(202);
  await vi.waitFor(() => expect(onRunning).toHaveBeenCalledWith('web'));
  expect(onRunning).toHaveBeenCalledTimes(2);
});

test('reports no VM that finds no node', async () => {
  const onRunning = vi.fn();
  simulation.faults.inject('unschedulable', { namespace: 'tailvm', name: 'web' });
  watch = await watchStarts(kubeConfig, onRunning);
  await start('web');
  const vm = () => sandbox.store.get('virtualmachines.kubevirt.io', { namespace: 'tailvm', name: 'web' });
  await vi.waitFor(() => expect(vm().status.printableStatus).toBe('ErrorUnschedulable'));
  expect(onRunning.mock.calls).toEqual([['db']]);
});
