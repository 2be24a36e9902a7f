import { SystemClock } from '@headgate/domain-contracts';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { isClusterReachable } from './is-cluster-reachable.js';

describe('isClusterReachable', () => {
  test('is true only for a known cluster that answers and accepts the credentials', async () => {
    const sandbox = await KubeSandbox.listen();
    const check = (text: string, kubeContext = 'sandbox') =>
      isClusterReachable({ kubeconfig: { text }, kubeContext, clock: new SystemClock(), timeoutMs: 10_000 });
    const stranger = sandbox.kubeconfig('stranger');
    expect(await check(sandbox.kubeconfig())).toBe(true);
    expect(await check(sandbox.kubeconfig(), 'nowhere')).toBe(false);
    sandbox.revoke(sandbox.tokenForUser('stranger'));
    expect(await check(stranger)).toBe(false);
    const text = sandbox.kubeconfig();
    await sandbox.close();
    expect(await check(text)).toBe(false);
  });
});
