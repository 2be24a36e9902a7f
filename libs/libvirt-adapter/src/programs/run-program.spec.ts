import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './run-program.js';

describe('runProgram', () => {
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-run-'))));
  afterEach(() => rm(folder, { recursive: true }));

  test('returns once a program that was canceled has ended, so that its files are free', async () => {
    const file = join(folder, 'pid');
    const cancel = new AbortController();
    const running = runProgram('sh', ['-c', 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 600', file], {
      timeoutMs: 60_000,
      signal: cancel.signal,
    });
    const content = (): Promise<string> => readFile(file, 'utf8').catch(() => '');
    while ((await content()) === '') await new Promise((resolve) => setImmediate(resolve));
    const pid = Number(await content());
    cancel.abort();
    expect(await running).toMatchObject({ code: null, ended: 'aborted' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('starts no program for a caller who has left, and reports one that is not installed', async () => {
    const options = { timeoutMs: 60_000, signal: AbortSignal.abort() };
    expect(await runProgram('true', [], options)).toMatchObject({ code: null, ended: 'aborted' });
    const missing = await runProgram('headgate-no-such-program', [], { timeoutMs: 60_000 });
    expect(missing).toMatchObject({ code: null, missing: true });
  });
});
