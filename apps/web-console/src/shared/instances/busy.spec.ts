import { buildVm } from '../../testing/build-vm.js';
import { busyReason, busyWord } from './busy.js';

const busyWith = (action: string) => buildVm({ name: 'web', busy: { task: 'task-1', action: action as 'move' } });

describe('busyReason', () => {
  test.each([
    ['snapshot', 'a snapshot', 'Snapshot'],
    ['restore', 'the restore of a snapshot', 'Restoring'],
    ['migrate', 'a migration', 'Migrating'],
    ['move-disk', 'a move of one of its disks', 'Disk move'],
    ['create', 'its creation', 'Creating'],
  ])('names the operation %s', (action, label, word) => {
    const vm = busyWith(action);
    expect(busyReason(vm)).toBe(`web is busy with ${label}. It must end or be canceled first.`);
    expect(busyWord(vm)).toBe(word);
  });

  test.each(['a-newer-operation', 'constructor', '__proto__'])(
    'also explains %s, an operation that only a newer service knows',
    (action) => {
      expect(busyReason(busyWith(action))).toBe('web is busy with a change. It must end or be canceled first.');
      expect(busyWord(busyWith(action))).toBe('Busy');
    },
  );

  test('is undefined while no task uses the instance', () => {
    expect(busyReason(buildVm())).toBeUndefined();
    expect(busyWord(buildVm())).toBeUndefined();
  });

  test.each([
    ['clone', 'change', false],
    ['clone', 'copy', true],
    ['export', 'copy', true],
    ['export', 'guest', true],
    ['snapshot', 'copy', false],
    ['move', 'guest', false],
  ] as const)('during %s, to %s it is allowed: %s', (action, use, isAllowed) => {
    expect(busyReason(busyWith(action), use) === undefined).toBe(isAllowed);
  });
});
