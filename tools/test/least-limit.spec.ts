import { setTimeout as sleep } from 'node:timers/promises';
import { LEAST_LIMIT_MS, withLeastLimit } from './least-limit.js';

/** Longer than the limits of this file. */
const LONG_MS = 50;

describe('a limit that is too low for a busy machine', () => {
  const calls: string[] = [];
  beforeEach(async () => {
    await sleep(LONG_MS);
    calls.push('hook');
  }, 1);

  test('ends neither a hook nor a test', async () => {
    await sleep(LONG_MS);
    expect(calls).toEqual(['hook']);
  }, 1);
});

test('a longer limit stays', async () => {
  const environment = new (withLeastLimit(class {}))();
  const long = { timeout: LEAST_LIMIT_MS * 2 };
  const none: { timeout?: number } = {};
  for (const test of [long, none]) await environment.handleTestEvent({ name: 'test_fn_start', test }, {});
  await environment.handleTestEvent({ name: 'hook_start', hook: long }, {});
  expect({ long, none }).toEqual({ long: { timeout: LEAST_LIMIT_MS * 2 }, none: {} });
});
