import { readFileSync } from 'node:fs';
import type { InstanceRef } from '@headgate/domain-contracts';
import { PacedClock } from '@headgate/kube-sandbox';
import { recordingReporter } from '@headgate/testing';
import { parse } from 'yaml';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

const MACHINE = 'machine-type.node.kubevirt.io/pc-q35-rhel9.6.0';
const MODEL = 'cpu-model-migration.node.kubevirt.io/Cascadelake-Server';
const ROLE = 'headgate-vm-service';
const NEVER_MS = 1e9;

interface SimulatedNode {
  metadata: { labels: Record<string, string> };
  spec?: { unschedulable?: boolean };
}
interface SimulatedPod {
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
}

const lose =
  (label: string) =>
  ({ metadata }: SimulatedNode): void =>
    void delete metadata.labels[label];

let harness: SandboxHarness;
let clock: PacedClock;

/**
 * A cluster in which time passes, that grants exactly the role of the manifests.
 * @param patienceMs of KubeVirt with a target pod
 */
async function open(patienceMs = NEVER_MS): Promise<void> {
  const role = parse(readFileSync(new URL('../../../../deploy/kustomize/cluster-role.yaml', import.meta.url), 'utf8'));
  clock = new PacedClock();
  harness = await SandboxHarness.open({
    sandbox: {
      clock,
      rbac: { headgate: [ROLE] },
      extensions: [{ install: ({ store }) => void store.load([role]) }],
    },
    simulation: { timeScale: 0.02, timings: { migrationUnschedulableTimeout: patienceMs } },
    user: 'headgate',
  });
}

afterEach(async () => {
  await harness.close();
  clock.stop();
});

const migration = () => harness.backend.require('migration');
const nodeOf = (ref: InstanceRef): string => harness.recorder.vm(ref)?.node ?? '';
const other = (ref: InstanceRef): string => (nodeOf(ref) === 'node-a' ? 'node-b' : 'node-a');
const change = (name: string, edit: (node: SimulatedNode) => void): void =>
  void harness.sandbox.store.patch('nodes', { name }, edit as never);

/** A running VM on one of the two nodes with the same CPU vendor; the third node has another vendor. */
async function givenMigratable(): Promise<InstanceRef> {
  const ref = await harness.givenVm('Running');
  if (nodeOf(ref) === 'node-c') return givenMigratable();
  await harness.recorder.untilVm(ref, ({ liveMigratable }) => liveMigratable);
  return ref;
}

const targetPod = (): SimulatedPod | undefined =>
  (harness.sandbox.store.list('pods') as unknown as SimulatedPod[]).find(
    ({ metadata }) => metadata.labels?.['kubevirt.io/migration-target-pod'],
  );

async function refusalOf(ref: InstanceRef, target?: string) {
  const [refusal, ...more] = (await migration().plan(ref, target)).refusals;
  expect(more).toEqual([]);
  const error = await migration()
    .migrate(ref, target)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(error).toMatchObject({ code: refusal?.code, message: refusal?.reason });
  expect(harness.sandbox.store.list('virtualmachineinstancemigrations.kubevirt.io')).toEqual([]);
  return refusal;
}

describe('the preflight of a migration', () => {
  beforeEach(() => open());

  test.each([
    [MACHINE, /restart the VM/],
    [MODEL, /CPU model that all its nodes have/],
    ['cpu-feature.node.kubevirt.io/ssbd', /CPU model that all its nodes have/],
  ])('refuses when no other node has the label %s', async (label, remedy) => {
    const ref = await givenMigratable();
    const target = other(ref);
    change(target, lose(label));
    expect(await refusalOf(ref)).toEqual({
      code: 'WRONG_STATE',
      reason: `No other node has the labels that the target of the migration needs: ${target} lacks the label ${label}.`,
      remedy: expect.stringMatching(remedy),
    });
    expect(await refusalOf(ref, target)).toEqual({
      code: 'WRONG_STATE',
      reason: `${target} lacks the label ${label}, which the target of the migration needs.`,
      remedy: expect.stringMatching(remedy),
    });
  });

  test('allows the migration when one of two nodes has the labels', async () => {
    const ref = await givenMigratable();
    change('node-c', ({ metadata }) => {
      const { labels } = harness.sandbox.store.get('nodes', { name: other(ref) })!.metadata;
      Object.assign(metadata.labels, { ...labels, 'kubernetes.io/hostname': 'node-c' });
    });
    change(other(ref), lose(MODEL));
    expect((await migration().plan(ref)).refusals).toEqual([]);
  });

  test('asks for the model of the first host, also after a migration', async () => {
    const ref = await givenMigratable();
    const [first, second] = [nodeOf(ref), other(ref)];
    change(second, ({ metadata }) => {
      delete metadata.labels['host-model-cpu.node.kubevirt.io/Cascadelake-Server'];
      metadata.labels['host-model-cpu.node.kubevirt.io/Icelake-Server'] = 'true';
    });
    await (
      await migration().migrate(ref, second)
    )(recordingReporter());
    await harness.recorder.untilVm(ref, ({ node, status }) => node === second && status === 'Running');
    // The first node can not run the model of the second one, and need not.
    expect((await migration().plan(ref, first)).refusals).toEqual([]);
  });
});

describe('a migration whose target pod no node can run', () => {
  const REASON = /no node can run its target pod virt-launcher-vm-\d+-\w+: 0\/3 nodes are available: 1 node\(s\) didn't match pod anti-affinity rules, 2 node\(s\) didn't match Pod's node affinity\/selector$/; // prettier-ignore

  /** The only possible target loses a label between the preflight and the decision of the scheduler. */
  async function begin(signal?: AbortSignal) {
    const ref = await givenMigratable();
    const target = other(ref);
    const recorded = recordingReporter(signal);
    const { promise: isStuck, resolve } = Promise.withResolvers<void>();
    const waitsFor = (subject: string): void => {
      recorded.waits.push(subject);
      if (REASON.test(subject)) resolve();
    };
    clock.hold();
    const work = await migration().migrate(ref);
    change(target, lose(MACHINE));
    const outcome = work({ ...recorded, waitsFor }).then(
      () => undefined,
      (error: unknown) => error,
    );
    clock.release();
    await isStuck;
    return { ref, target, report: recorded, outcome };
  }

  test('shows the reason of the scheduler, and continues once a node gets the label', async () => {
    await open();
    const { ref, target, report, outcome } = await begin();
    expect(report.waits.at(-1)).toMatch(/^the VirtualMachineInstanceMigration migrate-\S+ to succeed: no node/);
    expect(report.lines.filter((line) => REASON.test(line))).toHaveLength(1);
    expect(report.steps).not.toContain('Scheduled');
    change(target, ({ metadata }) => void (metadata.labels[MACHINE] = 'true'));
    expect(await outcome).toBeUndefined();
    expect(report.waits.at(-1)).toMatch(/ to succeed$/);
    await harness.recorder.untilVm(ref, ({ node }) => node === target);
  });

  test('fails with that reason when KubeVirt gives up, also for the service that comes after a restart', async () => {
    await open(10_000);
    const ref = await givenMigratable();
    const target = other(ref);
    const key = { id: 'task-1', node: nodeOf(ref), wasRunning: true };
    clock.hold();
    const work = await migration().migrate(ref, undefined, key);
    change(target, (node) => void (node.spec = { unschedulable: true }));
    const done = work(recordingReporter());
    const message = expect.stringMatching(
      /^The migration of vm-\d+ failed: no node can run its target pod \S+: 0\/3 nodes are available: 1 node\(s\) didn't match Pod's node affinity\/selector, 1 node\(s\) didn't match pod anti-affinity rules, 1 node\(s\) were unschedulable\.$/,
    );
    const failed = expect(done).rejects.toMatchObject({ code: 'BACKEND_FAILED', message });
    clock.release();
    await failed;
    expect(await migration().stateOf(ref, key)).toEqual({
      state: 'failed',
      reason: expect.stringMatching(
        /failed: no node could run its target pod \S+: 0\/3 nodes .* were unschedulable\.$/,
      ),
    });
    expect(nodeOf(ref)).toBe(key.node);
  });

  test('names the problem when its pod vanishes', async () => {
    await open();
    const { ref, outcome } = await begin();
    harness.sandbox.store.delete('pods', targetPod()!.metadata, { gracePeriodSeconds: 0 });
    expect(await outcome).toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/^The migration of vm-\d+ failed: no node can run its target pod .*selector\.$/),
    });
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running');
  });

  test('is removed with its pod when its task is canceled', async () => {
    await open();
    const abort = new AbortController();
    const { ref, outcome } = await begin(abort.signal);
    const removed = new Promise<void>((resolve) => {
      harness.sandbox.store.subscribe(
        'pods',
        ({ type }) => type === 'DELETED' && targetPod() === undefined && resolve(),
      );
    });
    abort.abort(new Error('canceled'));
    expect(await outcome).toMatchObject({ message: 'canceled' });
    await removed;
    expect(harness.sandbox.store.list('virtualmachineinstancemigrations.kubevirt.io')).toEqual([]);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running');
  });

  test('says that others have canceled it, and what it waited for', async () => {
    await open();
    const { outcome } = await begin();
    const [{ metadata } = { metadata: undefined }] = harness.sandbox.store.list(
      'virtualmachineinstancemigrations.kubevirt.io',
    );
    harness.sandbox.store.delete('virtualmachineinstancemigrations.kubevirt.io', metadata!);
    expect(await outcome).toMatchObject({
      message: expect.stringMatching(
        /failed: the migration was canceled; no node can run its target pod .*selector\.$/,
      ),
    });
  });
});
