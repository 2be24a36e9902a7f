import { FixedClock, MemoryBackend } from '@headgate/testing';
import { closeOpened } from './close-opened.js';

describe('closeOpened', () => {
  const clock = new FixedClock();

  test('closes the backend, then its engine', async () => {
    const backend = new MemoryBackend();
    const close = async (): Promise<void> => expect(backend.closed).toBe(true);
    expect(await closeOpened({ backend, close }, clock)).toBeUndefined();
    expect([backend.closed, clock.pending]).toEqual([true, 0]);
  });

  test('returns why one fails', async () => {
    const close = (): Promise<void> => Promise.reject(new Error('it is gone'));
    expect(await closeOpened({ backend: new MemoryBackend(), close }, clock)).toBe('it is gone');
  });

  test('waits 5 seconds for one that hangs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const closed = closeOpened({ backend: new MemoryBackend(), close: () => promise }, clock);
    await Promise.resolve();
    clock.advance(5000);
    expect(await closed).toBe('not within 5 s');
    resolve();
  });
});
