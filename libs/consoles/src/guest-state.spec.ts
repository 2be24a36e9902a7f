import { InstanceDirectory, type Instance, type VmStatus } from '@headgate/domain-contracts';
import { buildVm, FixedClock } from '@headgate/testing';
import { VmState } from './guest-state.js';

/** A directory of one VM whose status a test changes. */
class OneVm extends InstanceDirectory {
  private readonly listeners = new Set<() => void>();
  private vm: Instance | undefined = buildVm({ status: 'Running' });

  constructor(private readonly clock: FixedClock) {
    super();
  }

  override resolve(): Instance {
    throw new Error('not used');
  }

  override get(): Instance | undefined {
    return this.vm;
  }

  override waitFor(_ref: unknown, isMet: (instance: Instance | undefined) => boolean, timeoutMs = 0): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(timeoutMs, resolve);
      this.listeners.add(() => {
        if (isMet(this.vm)) resolve();
      });
    });
  }

  async become(status: VmStatus | undefined): Promise<void> {
    await this.replace(status && buildVm({ status }));
  }

  async replace(vm: Instance | undefined): Promise<void> {
    this.vm = vm;
    for (const listener of this.listeners) listener();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('VmState', () => {
  const setUp = () => {
    const clock = new FixedClock();
    const vm = new OneVm(clock);
    return { clock, vm, state: new VmState(vm, clock, buildVm().ref) };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test.each<[VmStatus | undefined, boolean]>([
    ['Running', true],
    ['Paused', true],
    ['Migrating', true],
    ['Stopping', false],
    ['Starting', false],
    ['Stopped', false],
    [undefined, false],
  ])('with the status %s the guest runs: %s', async (status, isRunning) => {
    const { vm, state } = setUp();
    await vm.become(status);
    expect(state.isRunning()).toBe(isRunning);
  });

  test('waits through a restart', async () => {
    const { clock, vm, state } = setUp();
    await vm.become('Stopping');
    const isBack = state.whenRunning();
    await vm.become('Stopped');
    clock.advance(9_000);
    await turn();
    await vm.become('Starting');
    clock.advance(60_000);
    await turn();
    await vm.become('Running');
    expect(await isBack).toBe(true);
  });

  test('takes a VM that was created again under the same name for another one', async () => {
    const { vm, state } = setUp();
    await vm.become('Stopping');
    const isBack = state.whenRunning();
    await vm.replace(buildVm({ status: 'Running', uid: 'another' }));
    expect([await isBack, state.isRunning()]).toEqual([false, false]);
  });

  test.each<[string, VmStatus | undefined, number]>([
    ['stays stopped', 'Stopped', 10_000],
    ['is deleted', undefined, 0],
    ['never finishes starting', 'Starting', 300_000],
  ])('gives up a guest that %s', async (_what, status, afterMs) => {
    const { clock, vm, state } = setUp();
    await vm.become('Stopping');
    const isBack = state.whenRunning();
    await vm.become(status);
    clock.advance(afterMs);
    expect(await isBack).toBe(false);
  });
});
