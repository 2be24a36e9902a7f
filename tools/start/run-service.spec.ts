import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const RUN_SERVICE = pathToFileURL(join(import.meta.dirname, 'run-service.mjs')).href;

/** Prints its process ID and works until it is ended; writes a line when it may end in order. */
const SERVICE = `
  import { writeFileSync } from 'node:fs';
  process.on('SIGTERM', () => {
    writeFileSync(process.argv[2], 'ended in order');
    process.exit(0);
  });
  setInterval(() => undefined, 1000);
  console.log(String(process.pid));
`;
const STARTER = `
  import { runService } from '${RUN_SERVICE}';
  process.exit(await runService(process.argv[2], process.argv.slice(3)));
`;

describe('a service that tools/start runs', () => {
  let folder: string;
  let file: (name: string) => string;
  let started: ChildProcess;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-start-'));
    file = (name) => join(folder, name);
    writeFileSync(file('service.mjs'), SERVICE);
    writeFileSync(file('starter.mjs'), STARTER);
    writeFileSync(
      file('package.json'),
      JSON.stringify({ scripts: { start: `exec node starter.mjs ${file('service.mjs')} ${file('end')}` } }),
    );
  });

  afterEach(() => {
    started.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** @returns after the service was started, its process ID and its standard output, which closes with it */
  async function start(command: string, args: string[]) {
    started = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: started.stdout! });
    const closed = once(lines, 'close');
    for (;;) {
      const [line] = (await once(lines, 'line')) as [string];
      if (/^\d+$/.test(line)) return { pid: Number(line), closed };
    }
  }

  const endedInOrder = (): string => readFileSync(file('end'), 'utf8');
  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('ends in order when its starter is killed', async () => {
    const { pid, closed } = await start(process.execPath, ['starter.mjs', file('service.mjs'), file('end')]);
    expect(isRunning(pid)).toBe(true);
    started.kill('SIGKILL');
    await closed;
    expect(endedInOrder()).toBe('ended in order');
  });

  test('ends in order when npm, which runs its starter, is killed', async () => {
    const { pid, closed } = await start('npm', ['start', '--silent']);
    expect(isRunning(pid)).toBe(true);
    started.kill('SIGKILL');
    await closed;
    expect(endedInOrder()).toBe('ended in order');
  });

  test('ends when its work is done, without being stopped', async () => {
    writeFileSync(file('service.mjs'), 'console.log(String(process.pid));');
    const { closed } = await start(process.execPath, ['starter.mjs', file('service.mjs')]);
    await closed;
    expect(started.exitCode ?? (await once(started, 'exit'))[0]).toBe(0);
  });
});
