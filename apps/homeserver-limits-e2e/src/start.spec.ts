import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const MAIN = resolve(import.meta.dirname, '../../homeserver-limits/dist/main.js');

const run = (args: string[], env: Record<string, string> = {}) => {
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...env }, encoding: 'utf8', timeout: 180_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], options);
  return { status, stdout, stderr };
};

const WORKERS = '[server]\nworkers = 2\n[gateway]\nupstream = "http://127.0.0.1:9"\n';

describe('the command line', () => {
  test('refuses the command of a worker without its main process', () => {
    const { status, stdout } = run(['worker']);
    expect([status, JSON.parse(stdout).msg]).toEqual([
      1,
      "command line: worker is a command of server.workers; it can't be given here",
    ]);
  });

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

  test.each([
    ['its own listener', (address: string) => ['--listen', address], 'server.listen'],
    ['the listener of workers', (address: string) => ['--listen', address], 'server.listen', WORKERS],
    ['the listener of the operator', () => ['--listen', '127.0.0.1:0'], 'operator.listen'],
  ])('refuses a used port of %s in one sentence', async (_what, args, setting, toml = '') => {
    const folder = await mkdtemp(join(tmpdir(), 'limits-start-'));
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const config = join(folder, 'limits.toml');
    await writeFile(config, setting === 'operator.listen' ? `[operator]\nlisten = "${address}"\n` : toml);
    const { status, stdout } = run([...args(address), '--config', config, '--data-dir', join(folder, 'data')]);
    other.close();
    await rm(folder, { recursive: true });
    expect(status).toBe(1);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string; err?: unknown });
    expect(lines.filter(({ level }) => level >= 50)).toEqual([
      expect.objectContaining({
        msg: `configuration: ${setting}: ${address} is in use by another program; choose another`,
      }),
    ]);
    expect(lines.at(-1)?.err).toBeUndefined();
  });

  test('refuses a data directory on a file system that takes no folders', () => {
    const { status, stdout } = run(['--listen', '127.0.0.1:0', '--data-dir', '/proc/headgate/data']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').msg).toContain(
      '--data-dir: /proc/headgate/data cannot be used: ENOENT',
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
