import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { digestOf, layerOf, serveImage } from './testing/oci-image.js';
import { EgressPolicy } from './egress-policy.js';
import { SpaceGuard } from './limits.js';
import { parseImageReference } from './image-reference.js';
import { openContainerDisk } from './open-container-disk.js';
import { PartialDownloads } from './partial-downloads.js';

const DISK = Buffer.alloc(200_000, 'boot');

describe('openContainerDisk', () => {
  let server: HttpServer;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    server = await HttpServer.listen();
    folder = await mkdtemp(join(tmpdir(), 'pull-spec-'));
    file = join(folder, 'disk');
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const open = (image: string) =>
    openContainerDisk({
      http: { egress: new EgressPolicy({ allow: ['127.0.0.1'] }), clock: new FixedClock() },
      image,
      arch: 'x86_64',
      signal: new AbortController().signal,
    });
  const pull = async (image: string) =>
    (await open(image)).save(file, {
      onBytes: () => undefined,
      maxBytes: 1024 ** 2,
      space: new SpaceGuard(folder),
      partials: new PartialDownloads(join(folder, 'partial'), new FixedClock()),
    });

  test('is identified by the digests of its layers, not by its name', async () => {
    const layer = await layerOf({ 'disk/a.img': DISK });
    serveImage(server, 'one', [layer]);
    serveImage(server, 'two', [layer]);
    serveImage(server, 'three', [await layerOf({ 'disk/a.img': Buffer.from('other') })]);
    const identities = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => (await open(`${server.host}/${name}`)).identity),
    );
    expect(identities[0]).toContain(digestOf(layer));
    expect(identities[1]).toBe(identities[0]);
    expect(identities[2]).not.toBe(identities[0]);
    expect(await pull(`${server.host}/one`)).toBe(digestOf(DISK).split(':')[1]);
  });

  test.each([
    ['plain', (layer: Buffer) => layer],
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])("finds the disk in a %s layer of the image for the host's architecture", async (_name, packed) => {
    serveImage(server, 'lab/tiny', [packed(await layerOf({ 'etc/motd': Buffer.from('hi'), 'disk/tiny.qcow2': DISK }))]);
    await pull(`${server.host}/lab/tiny`);
    expect((await readFile(file)).equals(DISK)).toBe(true);
  });

  test('uses the disk of the topmost layer', async () => {
    serveImage(server, 'tiny', [
      await layerOf({ 'disk/a.img': Buffer.from('old') }),
      await layerOf({ './disk/b.img': DISK }),
      await layerOf({ 'etc/x': DISK }),
    ]);
    await pull(`${server.host}/tiny:latest`);
    expect((await readFile(file)).equals(DISK)).toBe(true);
  });

  test('fetches an anonymous token when the registry requires one', async () => {
    serveImage(server, 'tiny', [await layerOf({ 'disk/a.img': DISK })]);
    const open = new Map(server.routes);
    for (const [path, route] of open) {
      server.routes.set(path, (request, response) => {
        if (request.headers.authorization === 'Bearer t0ken') return route(request, response);
        response
          .writeHead(401, {
            'www-authenticate': `Bearer realm="${server.url('/token')}",service="lab",scope="repository:tiny:pull"`,
          })
          .end();
      });
    }
    server.serve('/token', JSON.stringify({ token: 't0ken' }));
    await pull(`${server.host}/tiny`);
    expect(server.requests.filter((path) => path === '/token')).toHaveLength(1);
  });

  test.each([
    ['a token service on another host without TLS', 'http://auth.example/token'],
    ['a token service that is a private address', 'https://10.0.0.1/token'],
    ['a token service that is no URL', 'file:///etc/passwd'],
  ])('does not contact %s', async (_title, realm) => {
    server.routes.set(
      '/v2/tiny/manifests/latest',
      (_request, response) => void response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end(),
    );
    await expect(pull(`${server.host}/tiny`)).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
  });

  test('rejects a layer that is larger than the disk', async () => {
    serveImage(server, 'tiny', [await layerOf({ 'disk/a.img': Buffer.alloc(3 * 1024 ** 2) })]);
    await expect(pull(`${server.host}/tiny`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('larger than'),
    });
  });

  test('rejects an image that is not public', async () => {
    server.routes.set('/v2/tiny/manifests/latest', (_request, response) => void response.writeHead(401).end());
    await expect(pull(`${server.host}/tiny`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('public'),
    });
  });

  test('rejects a layer that does not match its digest', async () => {
    const layer = await layerOf({ 'disk/a.img': DISK });
    serveImage(server, 'tiny', [layer]);
    server.serve(`/v2/tiny/blobs/${digestOf(layer)}`, await layerOf({ 'disk/a.img': Buffer.alloc(200_000, 'evil') }));
    await expect(pull(`${server.host}/tiny`)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('checksum'),
    });
  });

  test.each([
    ['an image without a disk', { 'etc/motd': DISK }],
    ['a disk in a subfolder', { 'disk/deeper/a.img': DISK }],
    ['a whiteout of a disk', { 'disk/.wh.a.img': DISK }],
  ])('rejects %s', async (_title, files) => {
    serveImage(server, 'tiny', [await layerOf(files)]);
    await expect(pull(`${server.host}/tiny`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('container disk'),
    });
  });

  test('rejects an image for other architectures, and one that does not exist', async () => {
    serveImage(server, 'arm', [await layerOf({ 'disk/a.img': DISK })], { architecture: 'arm64' });
    await expect(pull(`${server.host}/arm`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('amd64'),
    });
    await expect(pull(`${server.host}/none`)).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('no image'),
    });
  });
});

describe('parseImageReference', () => {
  test('accepts tags, digests and ports', () => {
    expect(parseImageReference('registry.example:5000/a/b:v1')).toEqual({
      registry: 'registry.example:5000',
      repository: 'a/b',
      reference: 'v1',
    });
    expect(parseImageReference('docker://registry.example/a').reference).toBe('latest');
    const digest = digestOf('x');
    expect(parseImageReference(`registry.example/a:v1@${digest}`)).toMatchObject({
      repository: 'a',
      reference: digest,
    });
  });

  test.each([
    'debian:12',
    'library/debian',
    'registry.example/',
    'registry.example/A',
    'registry.example/../etc',
    'registry.example/a:b c',
    '',
    'r.example/a@sha256:12',
  ])('rejects %j', (image) =>
    expect(() => parseImageReference(image)).toThrow(expect.objectContaining({ code: 'INVALID_SOURCE' })),
  );
});
