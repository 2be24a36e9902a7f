import { buildContext } from '../../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../../testing/build-vm.js';
import { needsPlan, type Action, type ActionId } from './action.js';
import { containerActions } from './container-actions.js';
import { actionOf, actionRefusal, actionsOf, likelyAction, planState } from './registry.js';
import { vmActions } from './vm-actions.js';

const ALL: readonly Action[] = [...Object.values(vmActions()), ...Object.values(containerActions())] as Action[];
const POWER: readonly ActionId[] = ['start', 'stop', 'force-stop', 'restart', 'pause', 'unpause', 'migrate', 'delete'];

const able = (status: string): ActionId[] => {
  const vm = status === 'Stopped' ? buildStoppedVm() : buildVm({ status: status as 'Running' });
  return POWER.filter((action) => actionRefusal(action, vm) === undefined);
};

describe('the registry of actions', () => {
  test.each(ALL.filter(needsPlan))('names the consequence of $label', ({ consequence }) =>
    expect(consequence).toMatch(/\.$/),
  );

  test.each(['start', 'unpause', 'migrate', 'tag', 'untag', 'snapshot', 'clone'] as const)(
    'needs no plan for %s',
    (id) => expect(needsPlan(vmActions()[id])).toBe(false),
  );

  test.each(ALL.filter(({ bulk }) => bulk).filter(needsPlan))('warns before $label of many', ({ bulk }) =>
    expect(bulk?.warning).toMatch(/\.$/),
  );

  test('has an inverse only where its inverse leads back', () => {
    for (const { id, inverse } of ALL.filter(({ id }) => id !== 'force-stop'))
      if (inverse) expect(vmActions()[inverse]).toMatchObject({ inverse: id });
  });

  test('has Delete as the last action', () => expect(actionsOf(buildVm()).at(-1)?.id).toBe('delete'));

  test.each([
    ['Stopped', 'start'],
    ['Running', 'stop'],
    ['Paused', 'unpause'],
  ])('expects of a %s VM that the user wants to %s it', (status, id) =>
    expect(likelyAction(status === 'Stopped' ? buildStoppedVm() : buildVm({ status: status as 'Paused' })).id).toBe(id),
  );

  test('sends a forced stop as a stop', () =>
    expect(actionOf(buildVm(), 'force-stop').request?.(buildVm())).toEqual({
      method: 'POST',
      path: '/api/vms/tailvm/web-1/stop',
      query: { context: 'prod', force: true },
    }));
});

describe('planState', () => {
  test('changes with the state, and not with the address, the tags or the folder', () => {
    const vm = buildVm();
    expect(planState({ ...vm, status: 'Paused' })).not.toBe(planState(vm));
    expect(planState({ ...vm, busy: { task: 'x', action: 'migrate' } })).not.toBe(planState(vm));
    expect(planState({ ...vm, ip: '10.0.0.9', tags: ['x'], folder: 'prod' })).toBe(planState(vm));
  });
});

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
