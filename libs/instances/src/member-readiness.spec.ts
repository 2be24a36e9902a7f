import type { Instance, InstanceDirectory, InstanceRef, VirtualMachine } from '@headgate/domain-contracts';
import { buildContainer, buildVm, FixedClock, withStatus } from '@headgate/testing';
import { MemberReadiness } from './member-readiness.js';

const MINUTE_MS = 60_000;

/** A directory whose waits end like those of the fleet: when the condition is met, or after a time. */
class OneInstance {
  private readonly listeners = new Set<() => void>();
  constructor(
    readonly clock: FixedClock,
    private instance: Instance | undefined,
  ) {}

  set(instance: Instance | undefined): void {
    this.instance = instance;
    for (const listener of [...this.listeners]) listener();
  }

  get(_ref: InstanceRef): Instance | undefined {
    return this.instance;
  }

  waitFor(_ref: InstanceRef, isMet: (instance: Instance | undefined) => boolean, timeoutMs = 0): Promise<void> {
    if (isMet(this.instance)) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.listeners.delete(check);
        cancel();
        resolve();
      };
      const check = (): void => (isMet(this.instance) ? end() : undefined);
      const cancel = this.clock.after(timeoutMs, end);
      this.listeners.add(check);
    });
  }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe('the readiness of a member', () => {
  let clock: FixedClock;
  beforeEach(() => (clock = new FixedClock()));

  const vm = (status: VirtualMachine['status'], fields: Partial<VirtualMachine> = {}): VirtualMachine => ({
    ...(withStatus(buildVm({}), status) as VirtualMachine),
    agentConnected: false,
    ...fields,
  });
  const act = (instance: Instance, action: 'start' | 'restart') => {
    const directory = new OneInstance(clock, instance);
    const readiness = new MemberReadiness(directory as unknown as InstanceDirectory);
    const state = { directory, end: undefined as string | undefined };
    void readiness
      .after(instance.ref, action, async () => undefined)
      .then(
        () => (state.end = 'ready'),
        (error: Error) => (state.end = error.message),
      );
    return state;
  };

  test('a VM that was started is ready when it runs', async () => {
    const state = act(vm('Stopped'), 'start');
    await settled();
    state.directory.set(vm('Starting'));
    await settled();
    expect(state.end).toBeUndefined();
    state.directory.set(vm('Running'));
    await settled();
    expect([state.end, clock.pending]).toEqual(['ready', 0]);
  });

  test('a VM that was restarted is not ready before its guest agent was gone and is connected again', async () => {
    const state = act(vm('Running', { agentConnected: true }), 'restart');
    await settled();
    expect(state.end).toBeUndefined();
    state.directory.set(vm('Running'));
    await settled();
    expect(state.end).toBeUndefined();
    state.directory.set(vm('Running', { agentConnected: true }));
    await settled();
    expect(state.end).toBe('ready');
  });

  test('a restart without a sign counts as done after a minute', async () => {
    const state = act(vm('Running'), 'restart');
    await settled();
    clock.advance(MINUTE_MS - 1);
    await settled();
    expect(state.end).toBeUndefined();
    clock.advance(1);
    await settled();
    expect(state.end).toBe('ready');
  });

  test('a member that does not become ready fails after 10 minutes with what it lacks', async () => {
    const late = act(vm('Running', { agentConnected: true }), 'restart');
    await settled();
    late.directory.set(vm('Running'));
    await settled();
    clock.advance(10 * MINUTE_MS);
    await settled();
    expect(late.end).toMatch(/not ready 10 min after the restart: its guest agent is not connected\.$/);
    const starting = act(vm('Stopped'), 'start');
    await settled();
    starting.directory.set(vm('Starting'));
    clock.advance(10 * MINUTE_MS);
    await settled();
    expect(starting.end).toMatch(/it is Starting\.$/);
  });

  test('a member that is deleted, or replaced by another of its name, fails', async () => {
    for (const next of [undefined, vm('Running', { uid: 'another' })]) {
      const state = act(vm('Stopped'), 'start');
      await settled();
      state.directory.set(next);
      await settled();
      expect(state.end).toMatch(/was deleted before it was ready after the start/);
    }
  });

  test('a container is ready when it runs, and a failed action is not waited for', async () => {
    const state = act({ ...buildContainer(), phase: 'Stopped' } as Instance, 'start');
    await settled();
    state.directory.set({ ...buildContainer(), phase: 'Running' } as Instance);
    await settled();
    expect(state.end).toBe('ready');
    const readiness = new MemberReadiness(new OneInstance(clock, vm('Stopped')) as unknown as InstanceDirectory);
    const failing = readiness.after(vm('Stopped').ref, 'start', () => Promise.reject(new Error('No memory.')));
    await expect(failing).rejects.toThrow('No memory.');
    expect(clock.pending).toBe(0);
  });
});
