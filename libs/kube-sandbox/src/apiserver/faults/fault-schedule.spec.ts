import { ScheduleCounter, type FaultSchedule } from './fault-schedule.js';

const affected = (schedule: FaultSchedule, requests: number): number[] => {
  const counter = new ScheduleCounter(schedule);
  return Array.from({ length: requests }, (_, index) => index + 1).filter(() => counter.next());
};

describe('ScheduleCounter', () => {
  test.each<[FaultSchedule, number[]]>([
    [{}, [1, 2, 3, 4, 5, 6, 7]],
    [{ times: 2 }, [1, 2]],
    [{ every: 3 }, [3, 6]],
    [{ every: 2, times: 2 }, [2, 4]],
    [{ times: 0 }, []],
    [{ chance: 0 }, []],
    [{ chance: 1 }, [1, 2, 3, 4, 5, 6, 7]],
  ])('affects the requests of %j', (schedule, expected) => {
    expect(affected(schedule, 7)).toEqual(expected);
  });

  test('affects the same random requests for the same seed', () => {
    const first = affected({ chance: 0.25, seed: 7 }, 1000);
    expect(affected({ chance: 0.25, seed: 7 }, 1000)).toEqual(first);
    expect(affected({ chance: 0.25, seed: 8 }, 1000)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(200);
    expect(first.length).toBeLessThan(300);
  });

  describe('per path', () => {
    const paths = Array.from({ length: 400 }, (_, index) => `get /api/v1/namespaces/lab/pods/p-${index}`);
    /** The numbers of the affected requests of each path, which are sent in the given order of rounds and paths. */
    const affectedOf = (schedule: FaultSchedule, order: readonly string[]): Map<string, number[]> => {
      const counter = new ScheduleCounter({ per: 'path', ...schedule });
      const sent = new Map<string, number>();
      const found = new Map<string, number[]>();
      for (const path of order) {
        sent.set(path, (sent.get(path) ?? 0) + 1);
        if (counter.next(path)) found.set(path, [...(found.get(path) ?? []), sent.get(path)!]);
      }
      return found;
    };
    const rounds = Array.from({ length: 10 }, () => paths).flat();
    const oneAfterTheOther = paths.flatMap((path) => Array.from({ length: 10 }, () => path));

    test('affects the same requests of a path in whatever order the others are sent', () => {
      const first = affectedOf({ every: 5 }, rounds);
      expect(new Map([...affectedOf({ every: 5 }, oneAfterTheOther)].sort())).toEqual(new Map([...first].sort()));
      expect(affectedOf({ every: 5, seed: 2 }, rounds)).not.toEqual(first);
    });

    test('affects one of any five requests of a path, and the first one of every fifth path', () => {
      const found = affectedOf({ every: 5 }, rounds);
      for (const path of paths) {
        const [one = 0, next = 0, ...more] = found.get(path) ?? [];
        expect([one >= 1, one <= 5, next - one, more]).toEqual([true, true, 5, []]);
      }
      const hitAtOnce = [...found.values()].filter(([one]) => one === 1).length;
      expect(hitAtOnce).toBeGreaterThan(paths.length / 10);
      expect(hitAtOnce).toBeLessThan(paths.length / 3);
    });

    test('decides by chance for each request of a path', () => {
      const schedule = { chance: 0.25, seed: 3 };
      const found = affectedOf(schedule, rounds);
      expect(new Map([...affectedOf(schedule, oneAfterTheOther)].sort())).toEqual(new Map([...found].sort()));
      const count = [...found.values()].flat().length;
      expect(count).toBeGreaterThan(rounds.length / 5);
      expect(count).toBeLessThan((rounds.length * 3) / 10);
    });

    test('limits the affected requests of all paths together', () => {
      expect([...affectedOf({ times: 3 }, rounds).values()].flat()).toHaveLength(3);
    });
  });

  test.each([{ every: 0 }, { every: 1.5 }, { times: -1 }, { chance: 2 }, { chance: Number.NaN }])(
    'refuses %j',
    (schedule) => {
      expect(() => new ScheduleCounter(schedule)).toThrow(RangeError);
    },
  );
});
