import { TextDecoder, TextEncoder } from 'node:util';
import { jest } from '@jest/globals';
import { Client } from './client.js';
import { followRefusals } from './follow-refusals.js';
import type { Refusal } from './types.js';

// jsdom has neither.
Object.assign(globalThis, { TextEncoder, TextDecoder });

/** A body that arrives in chunks of this size, in bytes. */
function bodyOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let from = 0;
  const read = () => {
    const value = bytes.slice(from, (from += size));
    return Promise.resolve(value.length === 0 ? { done: true } : { done: false, value });
  };
  return { getReader: () => ({ read }) } as unknown as ReadableStream<Uint8Array>;
}

const event = (key: string) => `data: ${JSON.stringify({ refusals: [{ key }], skipped: 1 })}\n\n`;

describe('followRefusals', () => {
  const follow = async (text: string, status = 200, size = 1_000) => {
    const canceled = new AbortController();
    const keys: (string | undefined)[] = [];
    const states: string[] = [];
    globalThis.fetch = (() =>
      Promise.resolve({
        ok: status === 200,
        status,
        body: bodyOf(text, size),
        json: () => Promise.resolve({}),
      })) as unknown as typeof fetch;
    await followRefusals(new Client('token'), canceled.signal, {
      onRefusals: (refusals: readonly Refusal[]) => keys.push(...refusals.map(({ key }) => key)),
      onState: (state) => {
        states.push(state);
        if (state === 'waiting') canceled.abort();
      },
    });
    return { keys, states };
  };

  test('reads events however they are split, and skips comments', async () => {
    const text = `: refusals\n\n${event('ä')}:\n\n${event('b')}`;
    for (const size of [1, 2, 7, 1_000]) {
      expect((await follow(text, 200, size)).keys).toEqual(['ä', 'b']);
    }
  });

  test('ends immediately when it is canceled before it waits', async () => {
    const setTimer = jest.spyOn(globalThis, 'setTimeout');
    await follow(event('a'));
    expect(setTimer).not.toHaveBeenCalled();
    setTimer.mockRestore();
  });

  test('connects again after the end, and not after the token was refused', async () => {
    expect((await follow(event('a'))).states).toEqual(['live', 'waiting']);
    expect((await follow('', 429)).states).toEqual(['waiting']);
    expect((await follow('', 401)).states).toEqual([]);
  });
});
