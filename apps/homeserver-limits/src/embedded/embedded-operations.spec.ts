import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PathTable } from '../classify/path-table.js';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { SystemClock } from './clock.js';
import { embeddedOperations } from './embedded-operations.js';
import { EmbeddedStore } from './embedded-store.js';

/** Only the gateway has to know these: servers behind it may have them, and some end tokens that it remembers. */
const GATEWAY_ONLY = ['setDehydratedDevice', 'endTokens'];

describe('the embedded operations', () => {
  test('are a table without contradictions', () => {
    expect(() => new PathTable(embeddedOperations)).not.toThrow();
  });

  test('all have a handler', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    const store = new EmbeddedStore(new LiveConfig(parseConfig('')), folder, new SystemClock());
    const names = new Set(embeddedOperations.map(({ operation }) => operation));
    const missing = [...names].filter((name) => !store.homeserver.handles(name));
    store.close();
    await rm(folder, { recursive: true });
    expect(missing).toEqual(GATEWAY_ONLY);
  });
});
