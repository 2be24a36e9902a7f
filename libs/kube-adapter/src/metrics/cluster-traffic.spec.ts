import type { InstanceRef } from '@headgate/domain-contracts';
import { resourceMetricsContract } from '@headgate/testing';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

const open = (): Promise<SandboxHarness> => SandboxHarness.open({ backend: { handlerMetrics: true } });
const PROXY = { resource: 'pods', subresource: 'proxy/metrics' };

resourceMetricsContract('kube with the endpoints of virt-handler', open, { timeoutMs: 30_000 });

describe('disk and network of VMs on a simulated cluster', () => {
  let harness: SandboxHarness;
  let vm: InstanceRef;

  beforeEach(async () => {
    harness = await open();
    vm = await harness.givenVm('Running');
  });

  afterEach(() => harness.close());

  const reading = async () => {
    const { instances } = await harness.backend.require('metrics').read();
    return instances.find(({ ref }) => ref.name === vm.name);
  };
  const doctor = async () => {
    const checks = await harness.backend.require('diagnostics').checks();
    return checks.find(({ name }) => name === 'handler-metrics');
  };

  test('are read', async () => {
    expect(await reading()).toMatchObject({
      cpuMillicores: expect.any(Number),
      diskReadBytes: expect.any(Number),
      diskWrittenBytes: expect.any(Number),
      networkReceivedBytes: expect.any(Number),
      networkTransmittedBytes: expect.any(Number),
    });
    expect(harness.sandbox.requests.count(PROXY)).toBe(1);
    expect(await doctor()).toMatchObject({ status: 'ok' });
  });

  test.each([
    ['the account is refused', () => harness.sandbox.faults.forbid(PROXY), /virt-handler|pods\/proxy/],
    ['the proxy does not reach the handlers', () => harness.sandbox.faults.failNext(PROXY, 503), /virt-handler on /],
    [
      'there is no virt-handler',
      () => {
        const { store } = harness.sandbox;
        for (const { metadata } of store.list('pods', { namespace: 'kubevirt' }))
          if (metadata.name.startsWith('virt-handler-'))
            store.delete('pods', { namespace: 'kubevirt', name: metadata.name }, { gracePeriodSeconds: 0 });
      },
      /no virt-handler is running there/,
    ],
  ])('are unknown when %s, and the doctor has the reason', async (_what, fault, reason) => {
    fault();
    expect(await reading()).toMatchObject({
      cpuMillicores: expect.any(Number),
      memoryUsedBytes: expect.any(Number),
      diskReadBytes: null,
      networkReceivedBytes: null,
    });
    const asked = harness.sandbox.requests.count(PROXY);
    expect(await reading()).toMatchObject({ cpuMillicores: expect.any(Number), diskReadBytes: null });
    expect(harness.sandbox.requests.count(PROXY)).toBe(asked);
    expect(await doctor()).toMatchObject({ status: 'warning', message: expect.stringMatching(reason) });
  });

  test('are not read, and the doctor does not ask for the right, unless the configuration allows it', async () => {
    const other = await SandboxHarness.open();
    try {
      const ref = await other.givenVm('Running');
      const { instances } = await other.backend.require('metrics').read();
      expect(instances.find((one) => one.ref.name === ref.name)).toMatchObject({ diskReadBytes: null });
      expect(other.sandbox.requests.count(PROXY)).toBe(0);
      const names = (await other.backend.require('diagnostics').checks()).map(({ name }) => name);
      expect(names).not.toContain('handler-metrics');
    } finally {
      await other.close();
    }
  });
});
