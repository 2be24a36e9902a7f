import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestLog } from './request-log.js';

describe('RequestLog', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'request-log-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test.each([0, 1, 10, 5_000])(
    'has every line in order after a shutdown that follows %i requests at the same time',
    async (count) => {
      const path = join(folder, 'requests.jsonl');
      const errors: unknown[] = [];
      const log = RequestLog.open(path, { error: (...line: unknown[]) => void errors.push(line) } as never, () => 1);
      for (let i = 0; i < count; i++) {
        log.onDecided([{ event: 'ring', address: '192.0.2.1', source: '192.0.2.1', user: `@user${i}:b` }], undefined);
        // Lets a write begin before the last lines are added.
        if (i === count / 2) await new Promise((next) => setImmediate(next));
      }
      await log.onApplicationShutdown();
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { id?: number }).id)).toEqual([
        undefined,
        ...Array.from({ length: count }, (_, i) => i + 1),
      ]);
      expect(errors).toEqual([]);
    },
  );
});
