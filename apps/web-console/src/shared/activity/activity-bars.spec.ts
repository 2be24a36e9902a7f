import type { ActivityView } from '@headgate/api-contracts';
import { activityText, barPaths, spansOf } from './activity-bars.js';

const STEP_MS = 600_000;
const activity = (counts: ActivityView['counts']): ActivityView => ({
  range: '24h',
  from: 10 * STEP_MS,
  to: 14 * STEP_MS,
  stepMs: STEP_MS,
  counts,
});
const at = (span: number, users = 0, tokens = 0, failed = 0) => ({ t: span * STEP_MS, users, tokens, failed });

describe('the bars of the activity', () => {
  test('have a place for each span, and the height of their part of the largest', () => {
    const { users, tokens, failed } = barPaths(activity([at(10, 5), at(13, 4, 4, 2)]));
    expect(users).toBe('M0.1 0.5h0.8v0.5h-0.8zM3.1 0.6h0.8v0.4h-0.8z');
    expect(tokens).toBe('M3.1 0.2h0.8v0.4h-0.8z');
    expect(failed).toBe('M3.1 0h0.8v0.2h-0.8z');
    expect(spansOf(activity([]))).toBe(4);
  });

  test('are visible however small they are', () => {
    expect(barPaths(activity([at(10, 1), at(11, 1000)])).users).toBe('M0.1 0.94h0.8v0.06h-0.8zM1.1 0h0.8v1h-0.8z');
  });

  test('leave out what the range has left behind', () => {
    expect(barPaths(activity([at(9, 1), at(14, 1)]))).toEqual({ users: '', tokens: '', failed: '' });
  });

  test('are described in words', () => {
    expect(activityText(activity([]))).toBe('0 actions');
    expect(activityText(activity([at(10, 1)]))).toBe('1 action');
    expect(activityText(activity([at(10, 1, 1), at(11, 0, 0, 1)]))).toBe('3 actions, 1 failed');
  });
});
