import { UnavailableAbility, SystemClock } from '@headgate/domain-contracts';
import { InventoryRecorder, stopwatch } from '@headgate/testing';
import { KubeBackend } from './kube-backend.js';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from './testing/sandbox-harness.contract.js';

/** A role for one namespace, as a team of a shared cluster gets it. */
const TEAM_ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'team', namespace: 'tailvm' },
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
};

describe('KubeBackend and a failing cluster', () => {
  let harness: SandboxHarness;
  const open = async (settings?: SandboxHarnessOptions): Promise<void> => {
    harness = await SandboxHarness.open(settings);
  };
  afterEach(() => harness.close());

  const calls = (): string[] => harness.recorder.calls;
  const lost = () => harness.recorder.until(() => calls().at(-1)?.startsWith('lost') === true);
  const listedAgain = (times = 2) =>
    harness.recorder.until(() => calls().filter((call) => call === 'listed').length >= times);

  test('reports a lost server within 10 s and its return within 5 s, with the changes in between', async () => {
    await open();
    const [gone, kept] = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
    const untilLost = stopwatch();
    await harness.sandbox.faults.serverDown();
    await lost();
    expect(untilLost()).toBeLessThan(10_000);
    await harness.deleteExternally(gone);
    const untilBack = stopwatch();
    await harness.sandbox.faults.serverUp();
    await listedAgain();
    await harness.recorder.until(() => harness.recorder.vm(gone) === undefined);
    expect(untilBack()).toBeLessThan(5_000);
    expect(harness.recorder.vm(kept)).toMatchObject({ status: 'Stopped' });
  });

  test('lists again when its resource version has expired', async () => {
    await open();
    const [gone, kept] = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
    await harness.sandbox.faults.serverDown();
    await harness.deleteExternally(gone);
    harness.sandbox.faults.expireHistory();
    await harness.sandbox.faults.serverUp();
    await harness.recorder.until(() => harness.recorder.vm(gone) === undefined);
    expect(harness.recorder.vm(kept)).toBeDefined();
  });

  test('resumes watches that are cut off inside a line, without reporting the context as lost', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    for (let round = 0; round < 3; round++) {
      harness.sandbox.faults.cutWatches();
      await harness.backend.require('provisioning').setTag(ref, `round-${round}`, true);
      await harness.recorder.untilVm(ref, ({ tags }) => tags.includes(`round-${round}`));
    }
    expect(calls().some((call) => call.startsWith('lost'))).toBe(false);
  });

  test('creates no VM twice and leaves none incomplete when the server dies during a creation', async () => {
    await open();
    const source = await harness.quickSource();
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, start: false };
    const refs = Array.from({ length: 5 }, () => harness.freshRef());
    const creations = refs.map((ref, index) =>
      harness.backend
        .require('provisioning')
        .create({ ref, source, ...size, cloudInit: index % 2 ? 'x'.repeat(3000) : undefined }),
    );
    // The server stops responding after the first requests and before the last ones.
    harness.sandbox.faults.delay({ verb: 'create' }, 5);
    await harness.recorder.until(() => harness.sandbox.requests.count({ verb: 'create' }) > 0 || calls().length > 1);
    await harness.sandbox.faults.serverDown();
    await harness.sandbox.faults.serverUp();
    const results = await Promise.allSettled(creations);
    await harness.recorder.until(() =>
      refs.every((ref, index) => (results[index]?.status === 'fulfilled') === (harness.recorder.vm(ref) !== undefined)),
    );
    const owners = harness.sandbox.store.list('virtualmachines.kubevirt.io', { namespace: NAMESPACE });
    expect(owners).toHaveLength(results.filter(({ status }) => status === 'fulfilled').length);
  });

  test('reports in one sentence that the account may not list VMs', async () => {
    await open({ sandbox: { rbac: { visitor: [] } }, user: 'visitor' });
    await lost();
    expect(calls()).toEqual(['lost BACKEND_FORBIDDEN']);
    await expect(harness.backend.require('cluster').nodes()).rejects.toMatchObject({
      code: 'BACKEND_FORBIDDEN',
      message: 'prod does not let visitor list nodes at the cluster scope: grant it that verb.',
    });
  });

  test('reports an expired token, and does not affect another account', async () => {
    await open();
    harness.sandbox.revoke(harness.sandbox.tokenForUser('kubernetes-admin'));
    const own = harness.sandbox.kubeconfig('visitor');
    const backend = KubeBackend.open({ context: 'other', kubeconfig: { text: own }, clock: new SystemClock() });
    harness.sandbox.revoke(harness.sandbox.tokenForUser('visitor'));
    const recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.until(() => recorder.calls.includes('lost BACKEND_FORBIDDEN'));
    expect(harness.recorder.calls.at(-1)).not.toMatch(/^lost/);
    await recorder.stop();
    await backend.close();
  });

  test('runs containers without KubeVirt, and names the missing API for the other abilities', async () => {
    await open({ simulation: { without: ['kubevirt', 'cdi', 'snapshots', 'multus', 'metrics'] } });
    expect(calls()).toEqual(['listed']);
    await harness.backend.require('diagnostics').checks();
    const power = harness.backend.ability('power');
    expect(power).toBeInstanceOf(UnavailableAbility);
    expect((power as UnavailableAbility).reason).toMatch(/prod has no KubeVirt: the API kubevirt\.io\/v1/);
    const ref = harness.freshContainer();
    const size = { cpu: 1, memoryBytes: 2 ** 29, diskBytes: 2 ** 32, storageClass: '', privileged: false };
    await harness.backend.require('containers').create({ ref, image: 'debian:12', ...size });
    await harness.recorder.until(() => harness.recorder.instances.size === 1);
  });

  test('opens without a server or a kubeconfig, and reports the context as lost', async () => {
    await open();
    const kubeconfigs = [
      { text: harness.sandbox.kubeconfig().replace(/:\d+(\s)/, ':1$1') },
      { file: '/nonexistent/config' },
    ];
    for (const kubeconfig of kubeconfigs) {
      const backend = KubeBackend.open({ context: 'away', kubeconfig, clock: new SystemClock() });
      const recorder = InventoryRecorder.over(backend.require('inventory'));
      await recorder.until(() => recorder.calls.includes('lost BACKEND_UNREACHABLE'));
      expect(recorder.calls).not.toContain('listed');
      await recorder.stop();
      await backend.close();
    }
  });

  test('follows only the configured namespaces, with an account that may read no others', async () => {
    await open({
      sandbox: {
        rbac: { member: ['tailvm/team'] },
        extensions: [{ install: ({ store }) => void store.load([TEAM_ROLE]) }],
      },
      user: 'member',
      backend: { namespaces: ['tailvm'] },
    });
    const put = (namespace: string) =>
      harness.sandbox.store.create('virtualmachines.kubevirt.io', {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        metadata: { name: 'seen', namespace },
        spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
      } as never);
    put('default');
    put('tailvm');
    await harness.recorder.until(() => harness.recorder.instances.size > 0);
    expect([...harness.recorder.instances.keys()]).toEqual(['vm/prod/tailvm/seen']);
    expect(calls()[0]).toBe('listed');
  });

  test('sends no request for a change that a watch reports', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    harness.sandbox.requests.reset();
    harness.sandbox.store.patch('virtualmachines.kubevirt.io', ref, (vm) => {
      vm.metadata.labels = { ...vm.metadata.labels, 'svc.dev/tag.quiet': 'true' };
    });
    await harness.recorder.untilVm(ref, ({ tags }) => tags.includes('quiet'));
    expect(harness.sandbox.requests.count({ resource: 'virtualmachines.kubevirt.io' })).toBe(0);
  });
});
