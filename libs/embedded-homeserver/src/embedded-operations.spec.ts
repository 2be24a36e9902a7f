import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PathTable } from '@headgate/homeserver-contracts';
import { NestFactory } from '@nestjs/core';
import { EmbeddedHomeserverModule } from './embedded-homeserver.module.js';
import { EmbeddedHomeserver } from './embedded-homeserver.js';
import { embeddedOperations } from './embedded-operations.js';

/**
 * Operations of other homeservers that only the gateway has to know: rules count them, they verify a password, or they
 * revoke tokens that it caches.
 */
const GATEWAY_ONLY = [
  'setDehydratedDevice',
  'redact',
  'upgradeRoom',
  'knock',
  'refreshToken',
  'endTokens',
  'authenticate',
];

describe('the embedded operations', () => {
  test('are a table without contradictions', () => {
    expect(() => new PathTable(embeddedOperations)).not.toThrow();
  });

  test('all have a handler', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    const module = EmbeddedHomeserverModule.registerAsync({
      inject: [],
      useFactory: () => ({
        serverName: 'b.example',
        dataDir: folder,
        registration: true,
        registrationTokens: [],
        callService: {},
        trustedServers: [],
        peers: {},
        delayedEvents: () => ({ maxDelayMs: 1000, maxPerRoom: 1 }),
      }),
    });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const homeserver = app.get(EmbeddedHomeserver);
    const names = new Set(embeddedOperations.map(({ operation }) => operation));
    const missing = [...names].filter((name) => !homeserver.handles(name));
    await app.close();
    await rm(folder, { recursive: true });
    expect(missing).toEqual(GATEWAY_ONLY);
  });
});
