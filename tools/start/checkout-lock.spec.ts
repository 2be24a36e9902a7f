import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processWithId } from '../local/process.mjs';
import { withLock } from './checkout-lock.mjs';

const lock = JSON.stringify(join(import.meta.dirname, 'checkout-lock.mjs'));
const neverWait = (pid: number): never => {
  throw new Error(`waits for ${pid}`);
};

describe('withLock', () => {
  let folder: string;
  const started: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-lock-'));
  });

  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true });
  });

  /** Starts a process that runs `work` under the lock; the code may call `say`. */
  function start(work: string): ChildProcess {
    const script = `
      import { appendFileSync } from 'node:fs';
      import { withLock } from ${lock};
      const say = (word) => appendFileSync(${JSON.stringify(join(folder, 'said'))}, word + '\\n');
      const waits = (pid) => process.stdout.write('waits for ' + pid + '\\n');
      await withLock(${JSON.stringify(join(folder, 'lock'))}, async () => { ${work} }, waits);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    started.push(child);
    return child;
  }

  /** Starts a process that holds the lock until its standard input ends. */
  async function holder(): Promise<ChildProcess> {
    const child = start("process.stdout.write('holds'); for await (const _ of process.stdin);");
    await once(child.stdout!, 'data');
    return child;
  }

  test('runs concurrent processes one after the other', async () => {
    const rounds = "say('in'); for (let i = 0; i < 200; i++) await new Promise(setImmediate); say('out');";
    const children = Array.from({ length: 6 }, () => start(rounds));
    expect(await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))).toEqual(Array(6).fill(0));
    expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('in\nout\n'.repeat(6));
    expect(readdirSync(join(folder, 'lock'))).toHaveLength(1);
  });

  test('reports the process that it waits for and continues when that one is done', async () => {
    const first = await holder();
    const second = start("say('second')");
    expect(String((await once(second.stdout!, 'data'))[0])).toBe(`waits for ${first.pid}\n`);
    first.stdin!.end();
    expect((await once(second, 'exit'))[0]).toBe(0);
    expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('second\n');
  });

  test('does not wait for a process that was killed', async () => {
    const first = await holder();
    first.kill('SIGKILL');
    await once(first, 'exit');
    await expect(withLock(join(folder, 'lock'), async () => 'done', neverWait)).resolves.toBe('done');
  });

  test('does not wait for a later process with the same id', async () => {
    const other = { ...processWithId(process.pid), startTicks: 1 };
    writeFileSync(join(folder, '7'), JSON.stringify(other));
    await expect(withLock(folder, async () => 'done', neverWait)).resolves.toBe('done');
  });

  test('releases the lock after a failure', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('no space left'));
    await expect(withLock(folder, fail, neverWait)).rejects.toThrow('no space left');
    await expect(withLock(folder, async () => 'done', neverWait)).resolves.toBe('done');
  });
});
