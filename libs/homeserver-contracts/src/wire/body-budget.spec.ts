import { BodyBudget, type BufferedBody } from './body-budget.js';

describe('BodyBudget', () => {
  let now: number;
  let budget: BodyBudget;
  let refused: string[];
  beforeEach(() => {
    now = 0;
    refused = [];
    budget = new BodyBudget(100, () => now);
  });

  const open = (name: string): BufferedBody => budget.open((error) => refused.push(`${name} ${error.status}`));

  test('refuses the body that has held the most bytes for the longest time', () => {
    const slow = open('slow');
    slow.grow(40);
    now = 1000;
    const small = open('small');
    small.grow(1);
    const fast = open('fast');
    fast.grow(50);
    expect(refused).toEqual([]);
    fast.grow(10);
    expect(refused).toEqual(['slow 503']);
    expect([budget.usedBytes, budget.refused]).toEqual([61, 1]);
    slow.release();
    expect(budget.usedBytes).toBe(61);
  });

  test('counts complete bodies until they are released, and refuses none of them', () => {
    const complete = open('complete');
    complete.grow(90);
    complete.complete();
    now = 1000;
    open('next').grow(20);
    expect(refused).toEqual(['next 503']);
    complete.release();
    complete.release();
    expect(budget.usedBytes).toBe(0);
    open('again').grow(100);
    expect(refused).toHaveLength(1);
  });
});
