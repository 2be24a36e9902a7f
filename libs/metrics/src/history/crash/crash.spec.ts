import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NodeProgram } from '@headgate/testing';
import { averageOf } from '../history-row.js';
import { LEVELS } from '../levels.js';
import { UsageHistory } from '../usage-history.js';
import { START, usageOf, VMS } from './usage.js';

const [{ stepMs }] = LEVELS;

describe('a killed process', () => {
  let program: NodeProgram;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, 'writer.ts'));
  }, 30_000);

  afterAll(() => program.close());

  test.each([1, 22, 90])('loses at most the step in memory, killed after %d steps', async (steps) => {
    const folder = join(program.folder, `history-${steps}`);
    const child = spawn(process.execPath, [join(program.folder, 'writer.js'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const ended = once(child, 'exit');
    let written = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      written = Number(line);
      if (written === steps) child.kill('SIGKILL');
    }
    await ended;
    expect(written).toBeGreaterThanOrEqual(steps);
    let time = START + (written + 2) * stepMs;
    const history = new UsageHistory({ folder, clock: { now: () => time } });
    for (const vm of [VMS[0]!, VMS.at(-1)!]) {
      const rows = await history.read(vm, '24h');
      expect(rows.length).toBeGreaterThanOrEqual(written);
      expect(rows.map((row) => [row.time, averageOf(row)])).toEqual(
        rows.map((_row, step) => [START + step * stepMs, usageOf(step)]),
      );
      const hours = await history.read(vm, '30d');
      expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(rows.length);
    }
    // The next steps follow the end that the kill has left.
    const before = await history.read(VMS[0]!, '24h');
    for (const step of [written + 2, written + 3]) {
      time = START + step * stepMs;
      history.record(VMS[0]!, { ...usageOf(step), time });
    }
    expect(await history.read(VMS[0]!, '24h')).toHaveLength(before.length + 2);
    await history.close();
  });
});
