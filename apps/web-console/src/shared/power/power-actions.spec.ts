import { buildStoppedVm, buildVm } from '../../testing/build-vm.js';
import { buildContext } from '../../testing/build-capabilities.js';
import { actionRefusal, type InstanceAction } from './power-actions.js';

const able = (status: string): InstanceAction[] => {
  const vm = status === 'Stopped' ? buildStoppedVm() : buildVm({ status: status as 'Running' });
  const all: InstanceAction[] = ['start', 'stop', 'force-stop', 'restart', 'pause', 'unpause', 'migrate', 'delete'];
  return all.filter((action) => actionRefusal(action, vm) === undefined);
};

describe('actionRefusal', () => {
  test.each([
    ['Stopped', ['start', 'delete']],
    ['Running', ['stop', 'force-stop', 'restart', 'pause', 'migrate', 'delete']],
    ['Paused', ['stop', 'force-stop', 'restart', 'unpause', 'delete']],
    ['Stopping', ['force-stop', 'delete']],
    ['Starting', ['stop', 'force-stop', 'restart', 'delete']],
    ['CrashLoopBackOff', ['stop', 'force-stop', 'restart', 'delete']],
    ['Provisioning', ['delete']],
    ['Terminating', []],
  ])('allows the actions that make sense for a %s VM', (status, actions) => expect(able(status)).toEqual(actions));

  test('refuses everything to users without rights', () => {
    const whoami = { login: 'bob', name: 'Bob', admin: false, enforced: true, trust: 'users' as const };
    expect(actionRefusal('stop', buildVm(), { whoami })).toBe(
      'Only administrators can do this. You have view-only access.',
    );
    expect(actionRefusal('stop', buildVm(), { whoami: { ...whoami, enforced: false } })).toBeUndefined();
  });

  test('refuses actions on an unreachable context', () => {
    expect(actionRefusal('stop', buildVm({ stale: true }))).toBe('The context prod is unreachable.');
    expect(actionRefusal('stop', buildVm(), { context: buildContext({ up: false }) })).toBe(
      'The context prod is unreachable.',
    );
  });

  test('passes on the reason why a context lacks an ability', () => {
    const context = buildContext({
      abilities: { power: true, migration: 'A single machine has nowhere to migrate to.' },
    });
    expect(actionRefusal('migrate', buildVm(), { context })).toBe('A single machine has nowhere to migrate to.');
    expect(actionRefusal('stop', buildVm(), { context })).toBeUndefined();
  });

  test('refuses to migrate a VM without live migration', () => {
    expect(actionRefusal('migrate', buildVm({ liveMigratable: false }))).toBe(
      'This VM does not support live migration.',
    );
  });
});
