import { buildVm } from '../../testing/build-vm.js';
import { runForAll } from './run-power-action.js';

describe('runForAll', () => {
  const members = Array.from({ length: 20 }, (_, index) => buildVm({ name: `vm-${index}` }));

  test('answers for each member in order, and one failure stops no other', async () => {
    const results = await runForAll(members, (vm) =>
      vm.name === 'vm-3' ? Promise.reject(new Error('no')) : Promise.resolve(),
    );
    expect(results.map(({ vm }) => vm.name)).toEqual(members.map(({ name }) => name));
    expect(results.filter(({ error }) => error)).toEqual([{ vm: members[3], error: 'no' }]);
  });

  test('never runs more than six at once, and counts those that finished', async () => {
    let now = 0;
    let most = 0;
    const progress: number[] = [];
    await runForAll(
      members,
      async () => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now--;
      },
      (finished) => progress.push(finished),
    );
    expect(most).toBe(6);
    expect(progress).toEqual(members.map((_, index) => index + 1));
  });
});
