import { SystemClock } from '@headgate/domain-contracts';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { clusterAnswers } from './cluster-answers.js';

describe('clusterAnswers', () => {
  test('tells a cluster that is there from one that is away, unknown, or does not know the credentials', async () => {
    const sandbox = await KubeSandbox.listen();
    const asks = (text: string, context = 'sandbox') => clusterAnswers({ text }, context, new SystemClock(), 10_000);
    const stranger = sandbox.kubeconfig('stranger');
    expect(await asks(sandbox.kubeconfig())).toBe(true);
    expect(await asks(sandbox.kubeconfig(), 'nowhere')).toBe(false);
    sandbox.revoke(sandbox.tokenForUser('stranger'));
    expect(await asks(stranger)).toBe(false);
    const text = sandbox.kubeconfig();
    await sandbox.close();
    expect(await asks(text)).toBe(false);
  });
});
