import { areCompatible, meetingOf, OPERATION_NAMES, ruleOf, type UseMode } from './operations.js';

const MODES: readonly UseMode[] = ['present', 'unchanged', 'change', 'exclusive'];

describe('operations that meet', () => {
  test('are compatible in either order', () => {
    for (const a of MODES) for (const b of MODES) expect(areCompatible(a, b)).toBe(areCompatible(b, a));
  });

  test('exclude everything else from an instance that a task changes', () => {
    for (const first of ['move', 'restore', 'move-disk', 'migrate', 'snapshot', 'delete'] as const)
      for (const second of OPERATION_NAMES) expect([first, second, meetingOf(first, second)]).toContain('refused');
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
