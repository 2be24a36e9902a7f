/**
 * Which of the matching requests a fault affects, counted from the moment when it is injected. Default: all of them.
 */
export interface FaultSchedule {
  /** 3: the third request, the sixth, and so on. */
  every?: number;
  /** How many requests it affects in total. */
  times?: number;
  /** The probability that a request is affected, from 0 to 1. */
  chance?: number;
  /**
   * Selects the random numbers of `chance`, and with `per` where each count begins; the same seed affects the same
   * requests. Default 1.
   */
  seed?: number;
  /**
   * `path`: counts the requests of each verb and path separately, and each count begins somewhere else. Whether a
   * request is affected then does not depend on the order in which a busy machine sends the others, and a client that
   * repeats it meets the fault once in `every` attempts. `times` still limits all of them together. Default: one count
   * for all.
   */
  per?: 'path';
}

/** Counts the requests of one fault. */
export class ScheduleCounter {
  /** The number of requests of each path, or of all together under an empty one. */
  private readonly seen = new Map<string, number>();
  private affected = 0;
  private readonly random: () => number;

  /** @throws RangeError */
  constructor(private readonly schedule: FaultSchedule) {
    const { every = 1, times = Infinity, chance = 1, seed = 1 } = schedule;
    if (!Number.isInteger(every) || every < 1) throw new RangeError(`every: ${every} is not a positive integer.`);
    if (!(times >= 0)) throw new RangeError(`times: ${times} is negative.`);
    if (!(chance >= 0 && chance <= 1)) throw new RangeError(`chance: ${chance} is not between 0 and 1.`);
    this.random = randomNumbers(seed);
  }

  /**
   * Counts a request.
   * @param path the verb and the path of the request, of which only `per: 'path'` takes notice
   * @returns whether it is affected
   */
  next(path = ''): boolean {
    const { every = 1, times = Infinity, chance, seed = 1, per } = this.schedule;
    if (this.affected >= times) return false;
    const key = per === 'path' ? path : '';
    const seen = (this.seen.get(key) ?? (per === 'path' ? hashOf(`${seed} ${key}`) % every : 0)) + 1;
    this.seen.set(key, seen);
    if (seen % every !== 0) return false;
    const random = per === 'path' ? randomNumbers(hashOf(`${seed} ${seen} ${key}`)) : this.random;
    if (chance !== undefined && random() >= chance) return false;
    this.affected++;
    return true;
  }
}

/** An unsigned 32-bit number that depends on the text only: FNV-1a, RFC 9923. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/**
 * Numbers from 0 to 1 that depend on the seed only: mulberry32,
 * https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
 */
function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
