import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const MAIN = resolve(import.meta.dirname, '../../homeserver-limits/dist/main.js');

const run = (args: string[], env: Record<string, string> = {}) => {
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...env }, encoding: 'utf8', timeout: 20_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], options);
  return { status, stdout, stderr };
};

describe('the command line', () => {
  test('prints its options with --help', () => {
    const { status, stdout } = run(['--help']);
    expect(status).toBe(0);
    for (const option of ['--config FILE', '--listen HOST:PORT', '--data-dir DIRECTORY', '--help', 'LOG_LEVEL']) {
      expect(stdout).toContain(option);
    }
  });

  test('refuses an unknown log level in one sentence', () => {
    const { status, stdout, stderr } = run([], { LOG_LEVEL: 'verbose' });
    expect([status, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout).msg).toBe(
      'environment: LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
    );
  });

  test('refuses a data directory that it cannot create in one sentence', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'limits-start-'));
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { status, stdout } = run(['--listen', '127.0.0.1:0', '--data-dir', join(file, 'data')]);
    await rm(folder, { recursive: true });
    expect(status).toBe(1);
    const line = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(line.msg).toContain(`--data-dir: ${join(file, 'data')} cannot be used: ENOTDIR`);
    expect(line.err).toBeUndefined();
  });
});
