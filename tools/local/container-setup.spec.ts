import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUpEngine } from './container-setup.mjs';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);

let folder: string;
let server: Server;
let changes: string[];
/** The answers to reads. An empty list is null, as that of the real servers. */
let state: Record<string, unknown>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hgs-'));
  writeFileSync(join(folder, 'image'), 'content');
  changes = [];
  state = { '/1.0/storage-pools': ['/1.0/storage-pools/mine'] };
  server = createServer((request, response) => {
    const path = request.url ?? '';
    request.resume().on('end', () => {
      if (request.method !== 'GET') changes.push(`${request.method} ${path}`);
      const isImport = request.method === 'POST' && path === '/1.0/images';
      if (path.includes('/wait')) state[path] = { status_code: 200, metadata: { fingerprint: NEW } };
      response.end(
        JSON.stringify(
          isImport
            ? { type: 'async', operation: '/1.0/operations/1' }
            : { type: 'sync', metadata: state[path] ?? null },
        ),
      );
    });
  }).listen(join(folder, 's'));
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(folder, { recursive: true, force: true });
});

const setUp = () => setUpEngine(join(folder, 's'), { path: join(folder, 'image'), version: '2' });
const givenImage = (properties: Record<string, string>) => {
  state['/1.0/images/aliases?recursion=1'] = [{ name: 'tiny', target: OLD }];
  state[`/1.0/images/${OLD}`] = { fingerprint: OLD, properties };
};

test('imports the image, and leaves the pools and the profile of others alone', async () => {
  await setUp();
  expect(changes).toEqual(['POST /1.0/images', 'POST /1.0/images/aliases']);
});

test('creates a pool and a root disk where there is no pool at all', async () => {
  state = { '/1.0/profiles/default': { devices: {} } };
  await setUp();
  expect(changes.slice(0, 2)).toEqual(['POST /1.0/storage-pools', 'PATCH /1.0/profiles/default']);
});

test('replaces an older image of its own', async () => {
  givenImage({ os: 'Headgate', release: '1' });
  await setUp();
  expect(changes).toEqual(['POST /1.0/images', 'PATCH /1.0/images/aliases/tiny', `DELETE /1.0/images/${OLD}`]);
});

test.each([
  ['the same image', { os: 'Headgate', release: '2' }],
  ['an image of the user with that name', { os: 'Alpine', release: '3.20' }],
])('keeps %s', async (_, properties) => {
  givenImage(properties);
  await setUp();
  expect(changes).toEqual([]);
});
