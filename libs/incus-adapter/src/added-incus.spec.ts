import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { SettingError, SILENT_LOG, SystemClock } from '@headgate/domain-contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { addedIncus, type AddedIncusSettings } from './added-incus.js';

const fingerprint = 'ab'.repeat(32);
const tokenFor = (digits: string): string =>
  Buffer.from(JSON.stringify({ client_name: 'a', fingerprint: digits, addresses: [], secret: 'hush' })).toString(
    'base64',
  );

const problemsOf = (settings: object): string[] =>
  validateSync(plainToInstance(addedIncus.settings, settings), { whitelist: true, forbidNonWhitelisted: true }).map(
    ({ property }) => property,
  );

describe('the settings of an added server', () => {
  test.each([
    ['socket', { socket: 'relative' }],
    ['address', { address: 'http://host:8443' }],
    ['address', { address: 'https://host:8443/path' }],
    ['clientKey', { address: 'https://host', clientKey: '/etc/shadow' }],
    ['clientCertificate', { address: 'https://host', clientCertificate: '/etc/shadow' }],
    ['imageServers', { address: 'https://host', imageServers: [] }],
    ['trustToken', { address: 'https://host', trustToken: 'a'.repeat(5000) }],
  ])('refuse %s', (property, settings) => {
    expect(problemsOf(settings)).toEqual([property]);
  });

  test.each<[AddedIncusSettings, string]>([
    [{}, 'must be given'],
    [{ socket: '/s', address: 'https://host' }, 'must not be given together'],
    [{ socket: '/s', trustToken: tokenFor(fingerprint) }, 'need address'],
    [{ address: 'https://host:99999' }, 'must be a URL'],
    [{ address: 'https://host', trustToken: 'abc' }, 'must be a token'],
  ])('refuse %j', (settings, problem) => {
    expect(() => addedIncus.reduce('far', settings)).toThrow(SettingError);
    expect(() => addedIncus.reduce('far', settings)).toThrow(problem);
  });

  test('lead to a socket or a host, and show no token', () => {
    const settings = { address: 'https://[fd00::7]:8444', trustToken: tokenFor(fingerprint), project: 'web' };
    const kept = addedIncus.reduce('far', settings);
    expect(addedIncus.targets(kept)).toEqual([{ host: 'fd00::7', port: 8444 }]);
    expect(addedIncus.describe(kept)).toEqual({ address: 'https://[fd00::7]:8444', project: 'web' });
    expect(addedIncus.targets(addedIncus.reduce('far', { socket: '/run/incus/unix.socket' }))).toEqual([
      { path: '/run/incus/unix.socket' },
    ]);
    expect(addedIncus.usualPaths).toContain('/run/incus/unix.socket');
  });
});

const canCertify = spawnSync('openssl', ['version']).status === 0;
const describeWithOpenssl = canCertify ? describe : describe.skip;
const why = canCertify ? '' : ': skipped, openssl is not installed';

function createCertificate(folder: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  spawnSync('openssl', ['req', ...kind, '-subj', '/CN=server', '-days', '2', '-nodes', '-keyout', key, '-out', cert]);
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

describeWithOpenssl(`the test of a server with a token${why}`, () => {
  let server: Server;
  let folder: string;
  let actual: string;
  let requests: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-added-'));
    requests = [];
    const { key, cert } = createCertificate(folder);
    actual = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
    server = createServer({ key, cert }, (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end('{"type":"sync","metadata":{"auth":"untrusted"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  const probe = (trustToken: string | undefined) => {
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return addedIncus.probe?.({
      context: 'far',
      settings: { address, ...(trustToken !== undefined && { trustToken }) },
      dataDir: folder,
      clock: new SystemClock(),
      log: SILENT_LOG,
      peers: () => [],
      mayWrite: () => false,
      importAllow: [],
    });
  };

  test('does not use the token up', async () => {
    expect(await probe(tokenFor(actual))).toMatchObject([{ name: 'server', status: 'ok' }]);
    expect(requests).toEqual(['GET /1.0']);
    expect((await readdir(folder)).sort()).toEqual(['cert', 'client.json', 'key']);
  });

  test('sends nothing to a server with another certificate', async () => {
    expect(await probe(tokenFor(fingerprint))).toMatchObject([
      { status: 'error', message: expect.stringContaining('not the expected one') },
    ]);
    expect(requests).toEqual([]);
  });

  test('is that of the opened backend without a token', async () => {
    expect(await probe(undefined)).toBeUndefined();
  });
});
