import type { ShutdownTimes } from '@headgate/domain-contracts';

export interface ShutdownTimesHarness {
  readonly store: ShutdownTimes;
  /** The same storage after a restart. */
  reopen(): ShutdownTimes;
  close(): void;
}

const MAX_TIMES = 5;

/** The rules for every `ShutdownTimes`. @param open a store that keeps so many times */
export function shutdownTimesContract(adapter: string, open: (maxTimes: number) => ShutdownTimesHarness): void {
  describe(`ShutdownTimes, ${adapter}`, () => {
    let harness: ShutdownTimesHarness;

    beforeEach(() => {
      harness = open(MAX_TIMES);
    });
    afterEach(() => harness?.close());

    test('keeps the last time of each key', () => {
      harness.store.record('uid/1', 2400);
      harness.store.record("uid/2'; DROP TABLE shutdown_time", 1);
      harness.store.record('uid/1', 3100);
      const again = harness.reopen();
      expect(['uid/1', "uid/2'; DROP TABLE shutdown_time", 'uid/3'].map((key) => again.of(key))).toEqual([
        ...[3100, 1, undefined],
      ]);
    });

    test('forgets those that were recorded first when there are too many', () => {
      harness.store.record('kept', 1);
      harness.store.record('forgotten', 2);
      harness.store.record('kept', 3);
      for (let number = 1; number < MAX_TIMES; number++) harness.store.record(`uid/${number}`, number);
      const last = MAX_TIMES - 1;
      expect(['kept', 'forgotten', 'uid/1', `uid/${last}`].map((key) => harness.store.of(key))).toEqual([
        ...[3, undefined, 1, last],
      ]);
      harness.store.record('another', 4);
      expect(['kept', 'another'].map((key) => harness.store.of(key))).toEqual([undefined, 4]);
    });
  });
}
