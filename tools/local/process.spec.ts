import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteOf, note } from './daemon-note.mjs';
import { endProcess, isRunning, processOf } from './process.mjs';

let folder: string;
let pidFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-spec-'));
  pidFile = join(folder, 'pid');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function startSleeper() {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  writeFileSync(pidFile, `${child.pid}\n`);
  return child;
}

describe('processOf', () => {
  test('finds the process behind a pid file by its name', async () => {
    const child = await startSleeper();
    expect(processOf(pidFile, 'sleep')).toMatchObject({ name: 'sleep', pid: child.pid });
    expect(processOf(pidFile, 'libvirtd')).toBeUndefined();
    child.kill();
    await once(child, 'exit');
    expect(processOf(pidFile, 'sleep')).toBeUndefined();
  });

  test('finds nothing behind a pid file that is not there', () => {
    expect(processOf(pidFile, 'sleep')).toBeUndefined();
  });
});

describe('endProcess', () => {
  test('ends the process and tells when it is gone', async () => {
    await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    expect(await endProcess(sleeper, 10_000)).toBe(true);
    expect(isRunning(sleeper)).toBe(false);
  });

  test('does not touch a later process with the same id', async () => {
    const child = await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    expect(await endProcess({ ...sleeper, startTicks: sleeper.startTicks - 1 }, 10_000)).toBe(true);
    expect(isRunning(sleeper)).toBe(true);
    child.kill();
    await once(child, 'exit');
  });
});

describe('noteOf', () => {
  test('tells the daemons of a run that is gone, as far as they still live', async () => {
    const child = await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    note(folder, [sleeper, { ...sleeper, startTicks: 1 }], await idOfAProcessThatEnded());
    expect(noteOf(folder)).toEqual([sleeper]);
    child.kill();
    await once(child, 'exit');
  });

  test('leaves the daemons of a run that lives to it', async () => {
    const child = await startSleeper();
    note(folder, [processOf(pidFile, 'sleep')!], process.ppid);
    expect(noteOf(folder)).toEqual([]);
    child.kill();
    await once(child, 'exit');
  });

  test('takes a note that cannot be read for none', () => {
    writeFileSync(join(folder, 'daemons.json'), '{');
    expect(noteOf(folder)).toEqual([]);
  });
});

async function idOfAProcessThatEnded(): Promise<number> {
  const child = spawn('true', { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}
