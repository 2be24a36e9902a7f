import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { fetchChecksum, findChecksum, MAX_LIST_BYTES } from './checksum-list.js';
import { EgressPolicy } from './egress-policy.js';

const SHA256 = 'ab'.repeat(32);
const OTHER256 = 'cd'.repeat(32);
const SHA512 = 'ef'.repeat(64);
const MD5 = '01'.repeat(16);
const canCertify = spawnSync('openssl', ['version']).status === 0;
const withOpenssl = canCertify ? test : test.skip;
const why = canCertify ? '' : ': skipped, openssl is not installed';

describe('findChecksum', () => {
  const find = (text: string, list = 'https://images.example/a/SHA256SUMS'): string =>
    findChecksum(text, { image: new URL('https://images.example/a/disk.qcow2?x=1'), list: new URL(list) });

  test.each<[string, string, string]>([
    ['of sha256sum', `${OTHER256}  other.qcow2\n${SHA256}  disk.qcow2\n`, `sha256:${SHA256}`],
    ['in binary mode', `${SHA256} *disk.qcow2\n`, `sha256:${SHA256}`],
    ['in capital letters, with line ends of Windows', `${SHA256.toUpperCase()}  disk.qcow2\r\n`, `sha256:${SHA256}`],
    ['with folders', `${SHA256}  ./x86_64/disk.qcow2\n`, `sha256:${SHA256}`],
    ['of a BSD', `SHA256 (disk.qcow2) = ${SHA256}\n`, `sha256:${SHA256}`],
    ['of a BSD without spaces', `SHA512(disk.qcow2)= ${SHA512}\n`, `sha512:${SHA512}`],
    [
      'inside a clear-signed message',
      `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# disk.qcow2: 5 bytes\nSHA256 (disk.qcow2) = ${SHA256}\n-----BEGIN PGP SIGNATURE-----\n\niQIz\n-----END PGP SIGNATURE-----\n`,
      `sha256:${SHA256}`,
    ],
    ['with an escaped hyphen', `- ${SHA256}  disk.qcow2\n`, `sha256:${SHA256}`],
    [
      'with several algorithms, of which the strongest counts',
      `MD5 (disk.qcow2) = ${MD5}\nSHA256 (disk.qcow2) = ${SHA256}\nSHA512 (disk.qcow2) = ${SHA512}\n`,
      `sha512:${SHA512}`,
    ],
    ['that repeats an entry', `${SHA256}  disk.qcow2\n${SHA256} *disk.qcow2\n`, `sha256:${SHA256}`],
  ])('finds the checksum in a list %s', (_title, text, digest) => {
    expect(find(text)).toBe(digest);
  });

  test.each([
    ['a digest alone', `${SHA512}\n`, `sha512:${SHA512}`],
    ['the name that the file had when it was built', `${SHA256}  disk-Build19.5.qcow2\n`, `sha256:${SHA256}`],
  ])('takes %s from the list of one image', (_title, text, digest) => {
    expect(find(text, 'https://images.example/a/disk.qcow2.sha256')).toBe(digest);
    expect(() => find(text)).toThrow(/does not list disk\.qcow2/);
  });

  test.each<[string, string, RegExp]>([
    ['does not have the file', `${SHA256}  disk.qcow2.xz\n${SHA256}  my-disk.qcow2\n`, /does not list disk\.qcow2/],
    ['is empty', '', /does not list/],
    ['has different checksums', `${SHA256}  disk.qcow2\n${OTHER256}  disk.qcow2\n`, /different checksums/],
    ['has only weak checksums', `${MD5}  disk.qcow2\n`, /no SHA-256 or SHA-512/],
    ['is a web page', `<!DOCTYPE html><p>${SHA256}  disk.qcow2`, /web page/],
    ['is a web page after white space', '\n <html lang="en">', /web page/],
    ['has a checksum that is too short', `${SHA256.slice(1)}  disk.qcow2\n`, /no SHA-256 or SHA-512/],
    ['is binary', '\u0000\u0001\u001f\ufffd', /does not list/],
  ])('refuses a list that %s', (_title, text, message) => {
    expect(() => find(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_SOURCE', message: expect.stringMatching(message) }),
    );
  });

  test('does not take one of several entries of a list of one image that has other names', () => {
    const text = `${SHA256}  a.qcow2\n${OTHER256}  b.qcow2\n`;
    expect(() => find(text, 'https://images.example/a/disk.qcow2.sha256')).toThrow(/does not list/);
  });

  test('finds names with spaces, and names that are not encoded correctly', () => {
    const list = new URL('https://images.example/SHA256SUMS');
    for (const [url, name] of [
      ['https://images.example/my%20disk.qcow2', 'my disk.qcow2'],
      ['https://images.example/100%.qcow2', '100%.qcow2'],
    ] as const)
      expect(findChecksum(`${SHA256}  ${name}\n`, { image: new URL(url), list })).toBe(`sha256:${SHA256}`);
  });

  test('reads a long list in linear time', () => {
    const lines = Array.from({ length: 10_000 }, (_one, index) => `${OTHER256}  file-${index}.qcow2`);
    expect(find([...lines, `${SHA256}  disk.qcow2`].join('\n'))).toBe(`sha256:${SHA256}`);
    expect(() => find(`SHA256 (${'('.repeat(100_000)}`)).toThrow(/does not list/);
  });
});

describe('fetchChecksum', () => {
  let server: HttpServer;
  const clock = new FixedClock();
  const client = { egress: new EgressPolicy({ allow: ['127.0.0.1'] }), clock };
  const fetchList = (http = client): Promise<string> =>
    fetchChecksum(
      http,
      { url: server.url('/disk.qcow2'), checksums: server.url('/SHA256SUMS') },
      new AbortController().signal,
    );

  beforeEach(async () => void (server = await HttpServer.listen()));
  afterEach(async () => {
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test('downloads the list', async () => {
    server.serve('/SHA256SUMS', `${SHA256}  disk.qcow2\n`);
    expect(await fetchList()).toBe(`sha256:${SHA256}`);
  });

  test('reports a list that the server does not have', async () => {
    await expect(fetchList()).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('list of checksums'),
    });
    server.routes.set('/SHA256SUMS', (_request, response) => void response.writeHead(503).end());
    await expect(fetchList()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('does not read a list that never ends', async () => {
    server.routes.set('/SHA256SUMS', (_request, response) => {
      const line = Buffer.alloc(64 * 1024, `${OTHER256}  x\n`);
      const more = (): void => void (response.destroyed || response.write(line, more));
      response.writeHead(200);
      more();
    });
    await expect(fetchList()).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: expect.stringContaining('too long'),
    });
    expect(MAX_LIST_BYTES).toBeLessThan(2 * 1024 ** 2);
  });

  test('does not wait for a server that stalls', async () => {
    server.routes.set('/SHA256SUMS', () => clock.advance(60_000));
    await expect(fetchList()).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });

  test('does not read a list from a private address', async () => {
    server.serve('/SHA256SUMS', `${SHA256}  disk.qcow2\n`);
    await expect(fetchList({ egress: new EgressPolicy(), clock })).rejects.toMatchObject({ code: 'INVALID_SOURCE' });
    expect(server.requests).toEqual([]);
  });

  withOpenssl(`does not follow a redirect from https to http${why}`, async () => {
    const { key, cert } = certificate();
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, cert]);
    server.serve('/plain', `${OTHER256}  disk.qcow2\n`);
    const secure = createServer({ key, cert }, (_request, response) => {
      response.writeHead(302, { location: server.url('/plain') }).end();
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = secure.address() as AddressInfo;
      const image = { url: server.url('/disk.qcow2'), checksums: `https://127.0.0.1:${port}/SHA256SUMS` };
      await expect(fetchChecksum(client, image, new AbortController().signal)).rejects.toMatchObject({
        code: 'INVALID_SOURCE',
        message: expect.stringContaining('from https to http'),
      });
      expect(server.requests).toEqual([]);
    } finally {
      setDefaultCACertificates(trusted);
      secure.closeAllConnections();
      await new Promise((resolve) => secure.close(resolve));
    }
  });
});

function certificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hgtest-tls-'));
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes'];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    spawnSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
