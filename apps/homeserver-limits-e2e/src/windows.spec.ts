import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MemoryRateLimiter } from '@headgate/limits-core';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

/** Far above the time that writing takes, also on a busy machine. */
const SOON_MS = 20_000;

describe('the windows of a gateway', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    upstream.respond = (_request, response) => response.writeHead(403).end('{"errcode":"M_FORBIDDEN","error":"wrong"}');
    limits = await LimitsProcess.start(
      `[server]\ntrusted_proxies = ["127.0.0.0/8"]\n[gateway]\nupstream = "${upstream.url}"\n`,
    );
  });
  afterEach(async () => {
    await limits.dispose();
    await upstream.close();
  });

  const guess = async (): Promise<number> => {
    const body = { type: 'm.login.password', user: 'nora', password: 'guess' };
    return (await call(limits.url, 'POST', '/_matrix/client/v3/login', { body, from: freshAddress() })).status;
  };

  /** The failures of the account that a restart would restore now. */
  async function storedCount(): Promise<number> {
    const file = await readFile(join(limits.folder, 'data/windows.state')).catch(() => undefined);
    if (!file) return 0;
    const restored = new MemoryRateLimiter();
    const rate = restored.define('login_account', { limit: 5, windowMs: 60_000 });
    restored.restore(file, Date.now());
    return restored.peek(rate, 'user:nora').counted;
  }

  test('are still full after a kill shortly after they filled', async () => {
    for (let i = 0; i < 5; i++) expect(await guess()).toBe(403);
    const filledAt = Date.now();
    while ((await storedCount()) < 5 && Date.now() - filledAt < SOON_MS);
    await limits.end('SIGKILL');
    await limits.launch();
    expect(await guess()).toBe(429);
    expect(upstream.requests).toHaveLength(5);
  });
});

describe('a gateway refuses to start', () => {
  test('in front of itself, where every request would loop', async () => {
    const limits = await LimitsProcess.prepare('[gateway]\nupstream = "http://localhost:8765"\n');
    await expect(limits.launch('127.0.0.1:8765')).rejects.toThrow(
      'gateway.upstream is the address of this gateway itself',
    );
    await limits.dispose();
  });

  test('over the data of a running one, and starts after that was killed', async () => {
    const first = await LimitsProcess.start('');
    const second = await LimitsProcess.prepare('');
    const start = second.launch(undefined, join(first.folder, 'data'));
    await expect(start).rejects.toThrow('is in use by another process');
    await first.end('SIGKILL');
    await second.launch(undefined, join(first.folder, 'data'));
    await second.dispose();
    await first.dispose();
  });
});
