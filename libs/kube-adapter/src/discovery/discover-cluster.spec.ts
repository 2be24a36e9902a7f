import { KubeSandbox } from '@headgate/kube-sandbox';
import { discoverCluster } from './discover-cluster.js';

test('finds the cluster of the current context only while it answers', async () => {
  const sandbox = await KubeSandbox.listen();
  const text = sandbox.kubeconfig();
  expect(await discoverCluster({ text })).toEqual({
    context: 'sandbox',
    settings: { kubeContext: 'sandbox' },
    description: 'a cluster: the context sandbox of your kubeconfig',
  });
  expect(await discoverCluster({ text: text.replace(/current-context:.*/, 'current-context: ""') })).toBeUndefined();
  await sandbox.close();
  expect(await discoverCluster({ text })).toBeUndefined();
});
