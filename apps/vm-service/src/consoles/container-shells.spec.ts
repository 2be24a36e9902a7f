import 'reflect-metadata';
import { once } from 'node:events';
import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import type { KubeBackend } from '@headgate/kube-adapter';
import type { KubeSandbox } from '@headgate/kube-sandbox';
import type { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { InventoryRecorder } from '@headgate/testing';
import { Edge } from '../testing/edge.js';

const GIB = 1024 ** 3;

describe('the shell of a container in a cluster', () => {
  let simulation: KubevirtSimulation;
  let sandbox: KubeSandbox;
  let cluster: KubeBackend;
  let edge: Edge;
  const ref: InstanceRef = { kind: 'ct', context: 'prod', namespace: 'tailvm', name: 'shop' };

  beforeAll(async () => {
    const [{ KubeBackend }, { KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    simulation = new KubevirtSimulation({ timeScale: 0 });
    sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    const kubeconfig = { text: sandbox.kubeconfig() };
    cluster = KubeBackend.open({ context: ref.context, kubeconfig, clock: new SystemClock() });
    const recorder = InventoryRecorder.over(cluster.require('inventory'));
    await cluster.require('containers').create({
      ref,
      image: 'debian:12',
      cpu: 1,
      memoryBytes: GIB,
      diskBytes: GIB,
      storageClass: '',
      privileged: false,
    });
    await recorder.until(() => recorder.container(ref)?.phase === 'Running');
    await recorder.stop();
    edge = await new Edge().open();
    // The container `box` of the service is the one in the cluster.
    const consoles = cluster.require('consoles');
    edge.lab.require('consoles').openShell = (_ref, size) => consoles.openShell(ref, size);
  });

  afterAll(async () => {
    await edge.close();
    await cluster.close();
    await sandbox.close();
  });

  const closing = async (): Promise<[number, string]> => {
    const socket = edge.socket('/api/tty/default/box');
    socket.on('message', () => socket.send(Buffer.from('exit\r')));
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    return [code, String(reason)];
  };

  test('closes with the reason when the kubelet is unreachable, and works again afterwards', async () => {
    simulation.faults.inject('kubelet-unreachable', ref);
    const [code, reason] = await closing();
    expect(code).toBe(4500);
    expect(reason).toMatch(
      /^The cluster ended the shell: error sending request: dial tcp [\d.]+:10250: connect: connection refused$/,
    );
    simulation.faults.clear('kubelet-unreachable', ref);
    expect(await closing()).toEqual([1000, 'The shell has ended.']);
  });
});
