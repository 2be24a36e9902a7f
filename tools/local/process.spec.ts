import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOrphans, recordDaemons } from './daemon-record.mjs';
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
  test('finds the process of a PID file by its name', async () => {
    const child = await startSleeper();
    expect(processOf(pidFile, 'sleep')).toMatchObject({ name: 'sleep', pid: child.pid });
    expect(processOf(pidFile, 'libvirtd')).toBeUndefined();
    child.kill();
    await once(child, 'exit');
    expect(processOf(pidFile, 'sleep')).toBeUndefined();
  });

  test('finds nothing if the PID file does not exist', () => {
    expect(processOf(pidFile, 'sleep')).toBeUndefined();
  });
});

describe('endProcess', () => {
  test('stops the process and returns when it has exited', async () => {
    await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    expect(await endProcess(sleeper, 10_000)).toBe(true);
    expect(isRunning(sleeper)).toBe(false);
  });

  test('does not signal a later process with the same ID', async () => {
    const child = await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    expect(await endProcess({ ...sleeper, startTicks: sleeper.startTicks - 1 }, 10_000)).toBe(true);
    expect(isRunning(sleeper)).toBe(true);
    child.kill();
    await once(child, 'exit');
  });
});

describe('findOrphans', () => {
  test('returns the daemons of an ended run that are still running', async () => {
    const child = await startSleeper();
    const sleeper = processOf(pidFile, 'sleep')!;
    recordDaemons(folder, [sleeper, { ...sleeper, startTicks: 1 }], await idOfEndedProcess());
    expect(findOrphans(folder)).toEqual([sleeper]);
    child.kill();
    await once(child, 'exit');
  });

  test('ignores the daemons of an active run', async () => {
    const child = await startSleeper();
    recordDaemons(folder, [processOf(pidFile, 'sleep')!], process.ppid);
    expect(findOrphans(folder)).toEqual([]);
    child.kill();
    await once(child, 'exit');
  });

  test('ignores an unreadable record', () => {
    writeFileSync(join(folder, 'daemons.json'), '{');
    expect(findOrphans(folder)).toEqual([]);
  });
});

async function idOfEndedProcess(): Promise<number> {
  const child = spawn('true', { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}
