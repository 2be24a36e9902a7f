import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock } from '@headgate/domain-contracts';
import { FleetHistory } from './fleet-history.js';
import { RandomFleet, seededRandom, textOf } from './testing/random-fleet.js';

const STEPS = 3000;

/** The fleet from a moment on. */
interface Known {
  readonly time: number;
  readonly text: string;
  /** The recording had a gap then. */
  readonly isGap: boolean;
}

/** A clock without timers: nothing is written before the story asks for it, so that a kill loses a known part. */
class StoryClock extends Clock {
  time = Date.UTC(2026, 0, 1);

  override now(): number {
    return this.time;
  }

  override after(): () => void {
    return () => undefined;
  }

  advance(ms: number): void {
    this.time += ms;
  }
}

/** A story of changes, restarts and kills of the service, and the fleet at each moment. */
class Story {
  readonly clock = new StoryClock();
  readonly known: Known[] = [];
  readonly fleet: RandomFleet;
  history!: FleetHistory;
  private killed: FleetHistory[] = [];
  private readonly random: () => number;
  /** The number of known moments that are on the disk. */
  private safe = 0;

  constructor(
    private readonly folder: string,
    seed: number,
    count: number,
  ) {
    this.random = seededRandom(seed * 7919);
    this.fleet = new RandomFleet(seed, count, (event) => this.history?.record(event));
  }

  async start(): Promise<void> {
    const { clock, fleet, folder } = this;
    this.history = new FleetHistory({ folder, clock, fleet, days: 30, maxBytes: 2 ** 30, minFreeBytes: 0 });
    await this.history.start();
    this.note(false);
    this.safe = this.known.length;
  }

  /** As it was at a moment. */
  at(time: number): Known {
    return this.known.findLast((one) => one.time <= time)!;
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      const value = this.random();
      if (value < 0.004) await this.restart();
      else if (value < 0.008) await this.kill();
      else if (value < 0.02) await this.write();
      else this.change();
      if (value > 0.5) this.clock.advance(Math.ceil(this.random() * 400));
    }
    await this.write();
    this.clock.advance(1000);
  }

  async close(): Promise<void> {
    for (const one of [...this.killed, this.history]) await one.close();
  }

  private change(): void {
    this.fleet.step();
    this.note(false);
  }

  /** Everything that was changed until now is on the disk, as after the time of a flush. */
  private async write(): Promise<void> {
    await this.history.at(this.clock.now());
    this.safe = this.known.length;
  }

  private async restart(): Promise<void> {
    await this.history.close();
    // Later than the last change, and still before the gap.
    this.clock.advance(1);
    this.note(true);
    await this.away();
  }

  /** The changes in memory are lost, and are in the gap. */
  private async kill(): Promise<void> {
    this.killed.push(this.history);
    const last = this.known[this.safe - 1]!;
    this.known.splice(this.safe);
    this.known.push({ ...last, time: last.time + 1, isGap: true });
    await this.away();
  }

  private async away(): Promise<void> {
    this.history = undefined!;
    for (let count = this.random() * 10; count > 0; count--) this.fleet.step();
    this.clock.advance(Math.ceil(this.random() * 100_000) + 1);
    await this.start();
  }

  private note(isGap: boolean): void {
    const text = isGap
      ? this.known.at(-1)!.text
      : textOf({ entries: this.fleet.entries(), contexts: this.fleet.contexts() });
    this.known.push({ time: this.clock.now(), text, isGap });
  }
}

describe('the fleet as of a moment', () => {
  let folder: string;
  let story: Story;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-history-'));
  });

  afterEach(async () => {
    await story.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    [1000, 1],
    [200, 2],
    [200, 3],
  ])(
    'equals a recording of its changes at %d random moments, over restarts and kills (seed %d)',
    async (moments, seed) => {
      story = new Story(folder, seed, 40);
      await story.start();
      await story.run();
      const random = seededRandom(seed + 1000);
      const [first, last] = [story.known[0]!.time, story.clock.now()];
      let gaps = 0;
      for (let count = 0; count < moments; count++) {
        const time = first + Math.floor(random() * (last - first + 1));
        const expected = story.at(time);
        const past = await story.history.at(time);
        const { time: since } = expected;
        const known = new Set(expected.text.split('\n'));
        const wrong = textOf(past)
          .split('\n')
          .filter((line) => !known.has(line));
        expect([time, since, past.gap !== undefined, ...wrong]).toEqual([time, since, expected.isGap]);
        expect(textOf(past) === expected.text).toBe(true);
        if (expected.isGap) gaps++;
      }
      expect(gaps).toBeGreaterThan(2);
      expect(gaps).toBeLessThan(moments - 10);
    },
    60_000,
  );
});
