import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { parseConfig } from './config.js';
import { LiveConfig } from './live-config.js';

describe('LiveConfig', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'live-config-'));
    path = join(folder, 'limits.toml');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('applies bounds from the changed file', async () => {
    const live = new LiveConfig(parseConfig(''), path);
    await writeFile(path, '[limits]\npushers_per_user = 7');
    expect(await live.reload()).toBe(true);
    expect(live.current.limits.pushers_per_user).toBe(7);
  });

  test('keeps the previous bounds when the file is invalid or missing', async () => {
    const live = new LiveConfig(parseConfig('[limits]\npushers_per_user = 7'), path);
    expect(await live.reload()).toBe(false);
    await writeFile(path, '[ratelimit]\nrings_per_minute = 3\n[limits]\npushers_per_user = 0');
    expect(await live.reload()).toBe(false);
    expect(live.current.limits.pushers_per_user).toBe(7);
    expect(live.current.ratelimit.rings_per_minute).toBe(10);
  });

  test('logs the reason of a refused reload as one sentence, without a stack trace', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    const live = new LiveConfig(parseConfig(''), path, log);
    await live.reload();
    await writeFile(path, '[limits]\npushers_per_user = 0');
    await live.reload();
    const message = 'the configuration could not be reloaded; the previous settings stay in force';
    expect(lines).toEqual([
      expect.objectContaining({ msg: message, reason: expect.stringContaining(`${path}: cannot be read: ENOENT`) }),
      expect.objectContaining({ msg: message, reason: `${path}: limits.pushers_per_user must be at least 1` }),
    ]);
    expect(lines.some((line) => 'err' in line)).toBe(false);
  });

  test('does not change a section that needs a restart', async () => {
    const live = new LiveConfig(parseConfig(''), path);
    await writeFile(path, '[server]\nname = "other.example"');
    await live.reload();
    expect(live.current.server.name).toBe('localhost');
  });
});
