import { areCompatible, meetingOf, OPERATION_NAMES, ruleOf, type Operation, type UseMode } from './operations.js';

const MODES: readonly UseMode[] = [
  'present',
  'unchanged',
  'change',
  'power',
  'guest',
  'content',
  'exclusive',
  'removal',
];

describe('operations that meet', () => {
  test('are compatible in either order', () => {
    for (const a of MODES) for (const b of MODES) expect(areCompatible(a, b)).toBe(areCompatible(b, a));
  });

  test('exclude everything else from an instance that a task changes', () => {
    for (const first of ['move', 'restore', 'move-disk', 'migrate', 'snapshot', 'delete'] as const)
      for (const second of OPERATION_NAMES.filter((name) => name !== 'instant-restore'))
        expect([first, second, meetingOf(first, second)]).toContain('refused');
  });

  test('let a VM that runs while it is restored be powered, used and deleted, and nothing that needs its disks', () => {
    const ofRestore = (operation: Operation): string => meetingOf('instant-restore', operation);
    for (const second of ['start', 'stop', 'restart', 'pause', 'unpause', 'tag', 'guest-command', 'delete'] as const)
      expect([second, ofRestore(second)]).toEqual([second, 'both']);
    const refused = OPERATION_NAMES.filter((name) => ofRestore(name) === 'refused');
    expect(refused).toEqual(expect.arrayContaining(['create', 'instant-restore', 'restore-backup', 'hardware']));
    for (const second of ['backup', 'export', 'export-running', 'clone', 'snapshot', 'migrate', 'move-disk'] as const)
      expect([second, ofRestore(second)]).toEqual([second, 'refused']);
    expect(meetingOf('restore-backup', 'delete')).toBe('refused');
  });

  test('leave the source of a clone and of an export unchanged', () => {
    for (const first of ['clone', 'export'] as const) {
      expect([meetingOf(first, 'clone'), meetingOf(first, 'export')]).toEqual(['both', 'both']);
      for (const second of ['start', 'tag', 'scale', 'delete', 'move', 'snapshot'] as const)
        expect([first, second, meetingOf(first, second)]).toContain('refused');
    }
  });

  test('wait for a request, and never for a task', () => {
    for (const first of OPERATION_NAMES)
      for (const second of OPERATION_NAMES) {
        const meeting = meetingOf(first, second);
        if (meeting !== 'both') expect(meeting).toBe(ruleOf(first).lasts === 'request' ? 'waits' : 'refused');
      }
  });
});
