import { buildVm } from '../../testing/build-vm.js';
import { ACTION_EFFECTS, bulkConfirmation, needsConfirmation } from './action-effects.js';
import { POWER_ACTIONS, type InstanceAction } from './power-actions.js';
import { CONTAINER_POWER, powerWording } from './power-wording.js';

describe('the effects of actions', () => {
  test.each(POWER_ACTIONS.filter(needsConfirmation))('name the consequence of %s', (action) =>
    expect(powerWording(buildVm(), action).consequence).toMatch(/\.$/),
  );

  test('name the consequence of stopping a container', () => expect(CONTAINER_POWER.stop.consequence).toMatch(/\.$/));

  test.each(Object.keys(ACTION_EFFECTS) as InstanceAction[])('ask alike for one and for many: %s', (action) =>
    expect(bulkConfirmation(action, 'VMs').confirmByTyping !== undefined).toBe(needsConfirmation(action)),
  );

  test.each(['start', 'unpause', 'migrate', 'tag'] as const)('ask for nothing before %s', (action) =>
    expect(needsConfirmation(action)).toBe(false),
  );
});
