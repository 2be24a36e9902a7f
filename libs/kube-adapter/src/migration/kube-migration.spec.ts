import { ServiceShutdown, type InstanceRef } from '@headgate/domain-contracts';
import { PacedClock } from '@headgate/kube-sandbox';
import { recordingReporter } from '@headgate/testing';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

const nodeOf = ({ recorder }: SandboxHarness, ref: InstanceRef): string => recorder.vm(ref)?.node ?? '';

/** Of the two nodes with the same CPU vendor, the one that the VM is not running on. */
const otherNode = (harness: SandboxHarness, ref: InstanceRef): string =>
  nodeOf(harness, ref) === 'node-a' ? 'node-b' : 'node-a';

/** A running VM on one of the two nodes with the same CPU vendor; the third node has another vendor. */
async function givenMigratable(harness: SandboxHarness): Promise<InstanceRef> {
  const ref = await harness.givenVm('Running');
  if (nodeOf(harness, ref) === 'node-c') return givenMigratable(harness);
  await harness.recorder.untilVm(ref, ({ liveMigratable }) => liveMigratable);
  return ref;
}

describe('KubeMigration', () => {
  let harness: SandboxHarness;

  beforeAll(async () => {
    harness = await SandboxHarness.open();
  });
  afterAll(() => harness.close());

  const migration = () => harness.backend.require('migration');

  test('migrates to a node of the same CPU vendor and follows it to the end', async () => {
    const ref = await givenMigratable(harness);
    const target = otherNode(harness, ref);
    const report = recordingReporter();
    await (
      await migration().migrate(ref, target)
    )(report);
    expect(report.steps.at(-1)).toBe('Succeeded');
    expect(report.fractions.at(-1)).toBe(1);
    expect([...report.fractions].sort((a, b) => a - b)).toEqual(report.fractions);
    await harness.recorder.untilVm(ref, ({ node, status }) => node === target && status === 'Running');
  });

  test('lets the scheduler choose among the nodes with the same CPU vendor', async () => {
    const ref = await givenMigratable(harness);
    const target = otherNode(harness, ref);
    await (
      await migration().migrate(ref)
    )(recordingReporter());
    await harness.recorder.untilVm(ref, ({ node, status }) => node === target && status === 'Running');
  });

  test('refuses an impossible migration immediately', async () => {
    const ref = await givenMigratable(harness);
    await expect(migration().migrate(ref, 'node-c')).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(/AMD/),
    });
    await expect(migration().migrate(ref, nodeOf(harness, ref))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(migration().migrate(ref, 'nowhere')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
    await expect(migration().migrate(await harness.givenVm('Stopped'))).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await expect(migration().migrate(harness.freshRef())).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  });

  test('refuses a VM that was created for one node', async () => {
    const ref = harness.freshRef();
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 };
    const source = await harness.quickSource();
    await harness.backend.require('provisioning').create({ ref, source, ...size, node: 'node-a', start: true });
    await harness.becomes(ref, 'Running');
    expect(nodeOf(harness, ref)).toBe('node-a');
    await expect(migration().migrate(ref)).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(/created for the node node-a/),
    });
  });

  test('fails when the migration fails, and the guest stays on its node', async () => {
    const ref = await givenMigratable(harness);
    const node = nodeOf(harness, ref);
    harness.simulation.faults.inject('migration-failure', ref);
    const work = await migration().migrate(ref);
    await expect(work(recordingReporter())).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/migration of .* failed/),
    });
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running');
    expect(nodeOf(harness, ref)).toBe(node);
  });

  test('names the reason that only an event has, when the guest ends before its target is ready', async () => {
    const ref = await givenMigratable(harness);
    harness.simulation.faults.inject('migration-stuck', ref);
    const done = (await migration().migrate(ref))(recordingReporter());
    const failed = expect(done).rejects.toThrow(`The migration of ${ref.name} failed: vmi does not exist.`);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Migrating');
    await harness.backend.require('power').apply(ref, 'stop', { force: true });
    await failed;
  });

  test('refuses a second migration, and cancels the first when its task is canceled', async () => {
    const ref = await givenMigratable(harness);
    harness.simulation.faults.inject('migration-stuck', ref);
    const abort = new AbortController();
    const done = (await migration().migrate(ref))(recordingReporter(abort.signal));
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Migrating');
    await expect(migration().migrate(ref)).rejects.toMatchObject({ code: 'BUSY' });
    abort.abort(new Error('canceled'));
    await expect(done).rejects.toThrow('canceled');
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running');
  });

  test('continues in the cluster when the service ends', async () => {
    const ref = await givenMigratable(harness);
    const target = otherNode(harness, ref);
    const abort = new AbortController();
    const done = (await migration().migrate(ref, target))(recordingReporter(abort.signal));
    abort.abort(new ServiceShutdown('ended'));
    await expect(done).rejects.toThrow('ended');
    await harness.recorder.untilVm(ref, ({ node, status }) => node === target && status === 'Running');
  });
});

describe('KubeMigration and a lost server', () => {
  test('follows a migration across a restart of the API server', async () => {
    const simulation = { timeScale: 0.02, timings: { migrationPerGiB: 30_000 } };
    const clock = new PacedClock();
    const harness = await SandboxHarness.open({ sandbox: { clock }, simulation });
    const ref = await givenMigratable(harness);
    const target = otherNode(harness, ref);
    const report = recordingReporter();
    const done = (await harness.backend.require('migration').migrate(ref, target))(report);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Migrating');
    clock.hold();
    await harness.sandbox.faults.serverDown();
    await harness.recorder.until(() => harness.recorder.calls.some((call) => call.startsWith('lost')));
    await harness.sandbox.faults.serverUp();
    clock.release();
    await done;
    expect(report.steps.at(-1)).toBe('Succeeded');
    await harness.recorder.untilVm(ref, ({ node, status }) => node === target && status === 'Running');
    await harness.close();
    clock.stop();
  });
});

describe('KubeMigration on KubeVirt 1.5', () => {
  test('leaves the choice of the target to the scheduler, and refuses a requested one', async () => {
    const harness = await SandboxHarness.open({ simulation: { kubevirtVersion: '1.5' } });
    const ref = await givenMigratable(harness);
    const target = otherNode(harness, ref);
    const migration = harness.backend.require('migration');
    await expect(migration.migrate(ref, target)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringMatching(/KubeVirt 1\.6/),
    });
    await (
      await migration.migrate(ref)
    )(recordingReporter());
    await harness.recorder.untilVm(ref, ({ node, status }) => node !== undefined && status === 'Running');
    await harness.close();
  });
});
