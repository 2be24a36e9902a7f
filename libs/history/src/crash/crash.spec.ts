import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NodeProgram } from '@headgate/testing';
import { FleetHistory } from '../fleet-history.js';
import { RandomFleet, textOf } from '../testing/random-fleet.js';
import { COUNT, SEED, STEPS_PER_WRITE, StepClock, timeOf } from './story.js';

const textNow = (fleet: RandomFleet): string => textOf({ entries: fleet.entries(), contexts: fleet.contexts() });

describe('a killed process', () => {
  let program: NodeProgram;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, 'writer.ts'));
  }, 30_000);

  afterAll(() => program.close());

  // 5,000 changes begin another file, so the last kill is about there.
  test.each([1, 20, 99])('loses at most the changes in memory, killed after %d writes', async (writes) => {
    const folder = join(program.folder, `history-${writes}`);
    const child = spawn(process.execPath, [join(program.folder, 'writer.js'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const ended = once(child, 'exit');
    let written = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      written = Number(line);
      if (written === writes * STEPS_PER_WRITE) child.kill('SIGKILL');
    }
    await ended;
    expect(written).toBeGreaterThanOrEqual(writes * STEPS_PER_WRITE);
    // The same story again.
    const fleet = new RandomFleet(SEED, COUNT);
    const clock = new StepClock();
    const texts = new Map<number, string>();
    for (let step = 1; step <= written; step++) {
      fleet.step();
      if (step > written - 100 || step % 500 === 0) texts.set(step, textNow(fleet));
    }
    clock.step = written + 2 * STEPS_PER_WRITE;
    const history = new FleetHistory({ folder, clock, fleet, days: 30, maxBytes: 2 ** 30, minFreeBytes: 0 });
    try {
      await history.start();
      for (const [step, text] of texts) {
        const past = await history.at(timeOf(step));
        expect([step, past.gap]).toEqual([step, undefined]);
        expect(textOf(past) === text).toBe(true);
      }
      // Later changes may be on the disk or not, and there is a gap until now.
      expect((await history.at(clock.now() - 1)).gap?.to).toBe(clock.now());
      expect(textOf(await history.at(clock.now())) === textNow(fleet)).toBe(true);
    } finally {
      await history.close();
    }
  });
});
