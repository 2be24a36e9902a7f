import { jest } from '@jest/globals';
import type { KubeObject } from '@headgate/kube-sandbox';
import { FixedClock } from '@headgate/testing';
import { SystemClock } from '@headgate/domain-contracts';
import { KubeApi } from '../api/kube-api.js';
import { KubeConnection } from '../api/kube-connection.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';
import { Reachability } from '../watch/reachability.js';
import { versionProbe } from '../watch/version-probe.js';
import { LeftOvers, SWEEP_MS } from '../left-overs/left-overs.js';
import { MomentSnapshots } from './moment-snapshot.js';

const SNAPSHOTS = 'virtualmachinesnapshots.snapshot.kubevirt.io';
const EXPORTS = 'virtualmachineexports.export.kubevirt.io';

describe('what backups have left', () => {
  let harness: SandboxHarness;
  let snapshots: MomentSnapshots;
  let leftOvers: LeftOvers;
  let clock: FixedClock;
  const warnings: string[] = [];
  const messages = { removed: 'removed', failed: 'failed' };
  const log = { info: (): void => undefined, warn: (_fields: object, text: string): void => void warnings.push(text) };

  beforeEach(async () => {
    harness = await SandboxHarness.open();
    const credentials = new KubeCredentials({ text: harness.sandbox.kubeconfig() }, undefined);
    const system = new SystemClock();
    const reachability = new Reachability(versionProbe(new KubeConnection('prod', credentials, system)), system);
    snapshots = new MomentSnapshots({ api: new KubeApi('prod', credentials, system), clock: system, reachability });
    clock = new FixedClock();
    warnings.length = 0;
    leftOvers = new LeftOvers({ objects: snapshots, messages, clock, log, isServed: () => true });
  });
  afterEach(async () => {
    await leftOvers.close();
    await harness.close();
  });

  const given = (name: string, metadata: object = {}, namespace = NAMESPACE): KubeObject =>
    harness.sandbox.store.create(SNAPSHOTS, {
      apiVersion: 'snapshot.kubevirt.io/v1beta1',
      kind: 'VirtualMachineSnapshot',
      metadata: { name, namespace, ...metadata },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'web' } },
    } as never);
  const ofBackup = (beat: string) => ({
    labels: { 'svc.dev/backup': 'e5c9' },
    annotations: { 'svc.dev/backup-series': 'daily', 'svc.dev/backup-beat': beat },
  });
  /** Without those that the cluster is removing: KubeVirt has a finalizer on its snapshots. */
  const names = (resource = SNAPSHOTS) =>
    harness.sandbox.store
      .list(resource, { namespace: NAMESPACE })
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  const beat = (name: string, count: string): void =>
    void harness.sandbox.store.patch(SNAPSHOTS, { namespace: NAMESPACE, name }, (draft) => {
      draft.metadata.annotations = { ...draft.metadata.annotations, 'svc.dev/backup-beat': count };
    });

  test('is removed with its export at the second look, and nothing that others read or own', async () => {
    const left = given('left', ofBackup('7'));
    given('read-by-another-service', ofBackup('1'));
    given('of-the-user');
    given('with-a-copied-label', { labels: { 'svc.dev/backup': 'e5c9' } });
    harness.sandbox.store.create(EXPORTS, {
      apiVersion: 'export.kubevirt.io/v1beta1',
      kind: 'VirtualMachineExport',
      metadata: {
        name: 'hg-left',
        namespace: NAMESPACE,
        ownerReferences: [{ apiVersion: left.apiVersion, kind: left.kind, name: 'left', uid: left.metadata.uid }],
      },
      spec: { source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 'left' } },
    } as never);
    await leftOvers.sweep();
    expect(names()).toHaveLength(4);
    beat('read-by-another-service', '2');
    await leftOvers.sweep();
    expect(names().sort()).toEqual(['of-the-user', 'read-by-another-service', 'with-a-copied-label']);
    while (harness.sandbox.store.list(EXPORTS, { namespace: NAMESPACE }).length > 0)
      await new Promise((resolve) => setImmediate(resolve));
    beat('read-by-another-service', '3');
    await leftOvers.sweep();
    expect(names()).toContain('read-by-another-service');
  });

  test('stays if its service has said that it reads it after it was listed', async () => {
    given('slow', ofBackup('1'));
    await leftOvers.sweep();
    const all = jest.spyOn(snapshots, 'all').mockImplementationOnce(async (namespace) => {
      all.mockRestore();
      const found = await snapshots.all(namespace);
      beat('slow', '2');
      return found;
    });
    await leftOvers.sweep();
    expect(names()).toEqual(['slow']);
  });

  test('is looked for at intervals, until the service ends', async () => {
    const all = jest.spyOn(snapshots, 'all');
    clock.advance(SWEEP_MS - 1);
    await leftOvers.close();
    clock.advance(10 * SWEEP_MS);
    expect(all).not.toHaveBeenCalled();
  });

  test('is looked for only in the namespaces of the context, and a refusal is reported once', async () => {
    const looked: (string | undefined)[] = [];
    jest.spyOn(snapshots, 'all').mockImplementation((namespace) => {
      looked.push(namespace);
      return Promise.reject(new Error('forbidden'));
    });
    const some = new LeftOvers({
      objects: snapshots,
      messages,
      clock,
      log,
      namespaces: ['team-a'],
      isServed: () => true,
    });
    await some.sweep();
    await some.sweep();
    expect([looked, warnings.length]).toEqual([['team-a', 'team-a'], 1]);
    await some.close();
  });
});
