import { jest } from '@jest/globals';
import { buildVm } from '../../../testing/build-vm.js';
import { findInstances } from './find-instances.js';
import { warmSearch } from './warm-search.js';

describe('warmSearch', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Entries that count how often their names are read. */
  function countedEntries(count: number) {
    const reads = { count: 0 };
    const entries = Array.from({ length: count }, () =>
      Object.defineProperty(buildVm(), 'name', { get: () => (reads.count++, 'web-1') }),
    );
    return { entries, reads };
  }

  test('reads all entries in several tasks, so that a search reads none again', () => {
    const { entries, reads } = countedEntries(2_500);
    warmSearch(entries);
    expect(reads.count).toBe(0);
    jest.advanceTimersToNextTimer();
    const ofOneTask = reads.count;
    expect(ofOneTask).toBeGreaterThan(0);
    jest.runAllTimers();
    expect(reads.count).toBe(ofOneTask * 2.5);
    findInstances(entries, 'web', 5);
    expect(reads.count).toBe(ofOneTask * 2.5);
  });

  test('stops', () => {
    const { entries, reads } = countedEntries(2_500);
    const stop = warmSearch(entries);
    jest.advanceTimersToNextTimer();
    const before = reads.count;
    stop();
    jest.runAllTimers();
    expect(reads.count).toBe(before);
  });
});
