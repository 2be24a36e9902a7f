import type { InstanceRef } from '@headgate/domain-contracts';
import { PacedClock } from '@headgate/kube-sandbox';
import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

describe('KubePower', () => {
  let harness: SandboxHarness;
  let clock: PacedClock;

  beforeEach(async () => {
    clock = new PacedClock();
    // The grace period of a guest that ignores its power button is 60 s; here it takes 1.2 s of the cluster's time.
    harness = await SandboxHarness.open({ sandbox: { clock }, simulation: { timeScale: 0.02 } });
  });
  afterEach(async () => {
    await harness.close();
    clock.stop();
  });

  const power = () => harness.backend.require('power');
  const runStrategyOf = (ref: InstanceRef): unknown =>
    (harness.sandbox.store.get('virtualmachines.kubevirt.io', ref) as { spec?: { runStrategy?: string } } | undefined)
      ?.spec?.runStrategy;
  /** The uid of the live instance, which changes with each start. */
  const uidOf = ({ namespace, name }: InstanceRef): string | undefined =>
    harness.sandbox.store.get('virtualmachineinstances.kubevirt.io', { namespace, name })?.metadata.uid;

  test('refuses to stop a VM that is being restarted, whose pending start would start it again', async () => {
    const ref = await harness.givenVm('Running');
    harness.simulation.faults.inject('ignores-power-button', ref);
    const uid = uidOf(ref);
    clock.hold();
    await power().apply(ref, 'restart');
    for (const force of [false, true]) {
      await expect(power().apply(ref, 'stop', { force })).rejects.toMatchObject({
        code: 'BUSY',
        message: `${ref.name} is being restarted; stop it again when that is done.`,
      });
    }
    expect(runStrategyOf(ref)).toBe('Always');
    clock.release();
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running' && ![uid, undefined].includes(uidOf(ref)));
    await power().apply(ref, 'stop', { force: true });
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    expect(runStrategyOf(ref)).toBe('Halted');
  });

  test('refuses to start a VM that is being stopped, which would end stopped', async () => {
    const ref = await harness.givenVm('Running');
    clock.hold();
    await power().apply(ref, 'stop');
    await expect(power().apply(ref, 'start')).rejects.toMatchObject({
      code: 'BUSY',
      message: `${ref.name} is being stopped; start it again when that is done.`,
    });
    clock.release();
    await harness.becomes(ref, 'Stopped');
    await power().apply(ref, 'start');
    await harness.becomes(ref, 'Running');
  });

  const requestsOf = (action: string): number =>
    harness.sandbox.requests.count({
      verb: 'update',
      resource: 'virtualmachines.subresources.kubevirt.io',
      subresource: action,
    });

  test.each(['before', 'unanswered'] as const)('restarts a VM once when the connection is reset %s', async (moment) => {
    const ref = await harness.givenVm('Running');
    const uid = uidOf(ref);
    const reset = { subresource: 'restart', name: ref.name };
    harness.sandbox.faults.reset(reset, moment, { times: 1 });
    await power().apply(ref, 'restart');
    expect(requestsOf('restart')).toBe(moment === 'before' ? 2 : 1);
    await harness.recorder.untilVm(ref, ({ status }) => status === 'Running' && ![uid, undefined].includes(uidOf(ref)));
    const next = uidOf(ref);
    await power().apply(ref, 'pause');
    expect(uidOf(ref)).toBe(next);
  });

  test('starts, stops, pauses and unpauses a VM when every answer is lost once', async () => {
    const ref = await harness.givenVm('Stopped');
    const states = [
      ['start', 'Running'],
      ['pause', 'Paused'],
      ['unpause', 'Running'],
      ['stop', 'Stopped'],
    ] as const;
    for (const [action, status] of states) {
      harness.sandbox.faults.reset({ subresource: action }, 'unanswered', { times: 1 });
      await power().apply(ref, action);
      await harness.becomes(ref, status);
    }
  });
});
