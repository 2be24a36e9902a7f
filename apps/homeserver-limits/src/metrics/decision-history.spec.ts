import { DecisionHistory } from './decision-history.js';

const MINUTE_MS = 60_000;

describe('DecisionHistory', () => {
  test('counts the decisions of each minute of the last hour, and forgets older ones', () => {
    let nowMs = 1_000 * MINUTE_MS;
    const history = new DecisionHistory(() => nowMs);
    history.record('ring', 'granted');
    history.record('ring', 'granted');
    nowMs += 30 * MINUTE_MS;
    history.record('ring', 'refused');
    history.record('other', 'shadow_refused');
    const half = history.report().get('ring');
    expect([half?.granted[29], half?.refused[59], half?.granted.length]).toEqual([2, 1, 60]);
    expect(history.report().get('other')?.shadow_refused[59]).toBe(1);
    nowMs += 29 * MINUTE_MS;
    expect(history.report().get('ring')?.granted[0]).toBe(2);
    nowMs += MINUTE_MS;
    expect(
      history
        .report()
        .get('ring')
        ?.granted.every((count) => count === 0),
    ).toBe(true);
    // The slot of the first minute is used again.
    history.record('ring', 'granted');
    expect(history.report().get('ring')?.granted[59]).toBe(1);
  });

  test('holds a bounded number of rules', () => {
    const history = new DecisionHistory(() => 0);
    for (let i = 0; i < 2_000; i++) history.record(`rule${i}`, 'granted');
    expect(history.report().size).toBe(1_024);
  });
});
