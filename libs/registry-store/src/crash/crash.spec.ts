import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { NO_HASH } from '@headgate/journal-chain';
import { RegistryDatabase } from '../registry-database.js';
import { SqliteAuditLog } from '../sqlite-audit-log.js';
import { SqliteFleetAuditLog } from '../sqlite-fleet-audit-log.js';

describe('a killed process', () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-crash-'));
    // A bundle, because the process that is killed must be plain Node.
    const vite = createRequire(import.meta.url)
      .resolve('vite/package.json')
      .replace('package.json', 'bin/vite.js');
    await promisify(execFile)(process.execPath, [vite, 'build', '--ssr', 'src/crash/writer.ts', '--outDir', folder], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, NODE_OPTIONS: '' },
    });
  }, 30_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([1, 40, 300])('loses no write that it acknowledged, killed after %d', async (writes) => {
    const file = join(folder, `${writes}.db`);
    const child = spawn(process.execPath, [join(folder, 'writer.js'), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const ended = once(child, 'exit');
    let acknowledged = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      if (acknowledged === writes) child.kill('SIGKILL');
    }
    await ended;
    const database = new RegistryDatabase(file).open();
    const { number } = new SqliteFleetAuditLog(database).head();
    const entries = new SqliteFleetAuditLog(database).after(0, 1_000_000);
    // The interrupted write left neither an entry nor a link.
    entries.forEach(({ links }, index) =>
      expect(links?.previousAction).toBe(entries[index - 1]?.links?.hash ?? NO_HASH),
    );
    expect(number).toBe(entries.length);
    const kept = new SqliteAuditLog(database).recent(1_000_000).map(({ action }) => Number(action));
    database.close();
    expect(acknowledged).toBeGreaterThanOrEqual(writes);
    expect(kept).toContain(acknowledged);
    expect(kept.toReversed()).toEqual(Array.from({ length: kept.length }, (_, index) => index + 1));
  });
});
