import { BODY_STEP_MS, BodyPace, MIN_STEP_BYTES } from './body-pace.js';

describe('BodyPace', () => {
  let pace: BodyPace;
  beforeEach(() => {
    pace = new BodyPace();
    pace.begin(0);
  });

  const tooSlow = (nowMs: number, isPaused = false) => pace.isTooSlow(nowMs, isPaused);

  test('notices a step in which too little arrives, and not before its end', () => {
    pace.add(MIN_STEP_BYTES);
    expect(tooSlow(BODY_STEP_MS)).toBe(false);
    pace.add(MIN_STEP_BYTES - 1);
    expect([tooSlow(2 * BODY_STEP_MS - 1), tooSlow(2 * BODY_STEP_MS)]).toEqual([false, true]);
  });

  test('does not count a time in which the upstream accepts nothing', () => {
    expect(tooSlow(BODY_STEP_MS, true)).toBe(false);
    pace.resume(1.5 * BODY_STEP_MS);
    expect([tooSlow(2.4 * BODY_STEP_MS), tooSlow(2.5 * BODY_STEP_MS)]).toEqual([false, true]);
  });

  test('is over at the end of the body', () => {
    pace.end();
    pace.resume(0);
    expect(tooSlow(10 * BODY_STEP_MS)).toBe(false);
  });
});
