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
import {
  SettingError,
  SILENT_LOG,
  SystemClock,
  type BackendDeps,
  type DomainError,
  type SettingsChange,
} from '@headgate/domain-contracts';
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

describe('a change of the settings of an added server', () => {
  const other = 'cd'.repeat(32);
  const trustToken = tokenFor(fingerprint);
  const before = { address: 'https://host:8443', trustToken, project: 'web' };
  const pinned = { address: 'https://host:8443', fingerprint };
  const merge = (kept: AddedIncusSettings, change: SettingsChange) => addedIncus.merge('far', kept, change);

  test.each<[string, AddedIncusSettings, SettingsChange, object]>([
    ['keeps what it does not name', before, { project: 'db' }, { ...before, project: 'db' }],
    ['removes a key that is null', before, { project: null }, { address: before.address, trustToken }],
    ['keeps a token for the same place', before, { address: before.address }, before],
    ['takes the fingerprint of a new token', pinned, { trustToken }, { address: pinned.address, trustToken }],
    [
      'may give a token and a fingerprint',
      pinned,
      { trustToken, fingerprint: other },
      { ...pinned, trustToken, fingerprint: other },
    ],
    [
      'keeps the fingerprint for another address',
      pinned,
      { address: 'https://new' },
      { address: 'https://new', fingerprint },
    ],
    [
      'accepts a fingerprint in capitals',
      pinned,
      { fingerprint: fingerprint.toUpperCase() },
      { ...pinned, fingerprint: fingerprint.toUpperCase() },
    ],
    ['replaces an address by a socket', before, { socket: '/s' }, { socket: '/s', project: 'web' }],
    ['replaces a socket by an address', { socket: '/s' }, { address: 'https://new' }, { address: 'https://new' }],
    [
      'sends a token that is given to another server',
      before,
      { address: 'https://new', trustToken },
      { ...before, address: 'https://new' },
    ],
    [
      'removes a token for another server',
      before,
      { address: 'https://new', trustToken: null },
      { address: 'https://new', project: 'web' },
    ],
  ])('%s', (_what, kept, change, merged) => {
    expect(merge(kept, change)).toEqual(merged);
  });

  test.each<[SettingsChange]>([
    [{ address: 'https://evil.example' }],
    [{ fingerprint: other }],
    [{ address: 'https://host:9443' }],
    [{ address: 'https://evil.example', fingerprint: other }],
    [{ address: 'https://evil.example', trustToken: undefined }],
    [{ address: null, socket: null, fingerprint: other }],
  ])('sends a kept token nowhere else: %j', (change) => {
    expect(() => merge(before, change)).toThrow(SettingError);
    expect(() => merge(before, change)).toThrow('trustToken must be given again');
    expect(() => merge({ ...before, fingerprint }, change)).toThrow('trustToken must be given again');
  });

  test('leaves unknown keys and wrong values to the check of the settings', () => {
    const merged = merge(before, { admin: 'yes', address: 5, trustToken });
    expect(problemsOf(merged)).toEqual(['admin', 'address']);
  });

  test('forgets a used token, but not the certificate in it', () => {
    expect(addedIncus.withoutUsedSecrets?.(before)).toEqual({ address: before.address, project: 'web', fingerprint });
    expect(addedIncus.withoutUsedSecrets?.({ ...before, fingerprint: other })).toMatchObject({ fingerprint: other });
    expect(addedIncus.withoutUsedSecrets?.({ socket: '/s' })).toEqual({ socket: '/s' });
  });

  test('leads to another engine with another address or project, but not with another token', () => {
    const engine = addedIncus.engineOf(before);
    expect(addedIncus.engineOf({ ...pinned, project: 'web' })).toBe(engine);
    expect(addedIncus.engineOf({ ...before, project: 'db' })).not.toBe(engine);
    expect(addedIncus.engineOf({ ...before, address: 'https://new' })).not.toBe(engine);
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

  const depsOf = (settings: AddedIncusSettings): BackendDeps<AddedIncusSettings> => ({
    context: 'far',
    settings: { address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ...settings },
    dataDir: folder,
    clock: new SystemClock(),
    log: SILENT_LOG,
    peers: () => [],
    mayWrite: () => false,
    importAllow: [],
  });
  const probe = (trustToken: string | undefined) =>
    addedIncus.probe?.(depsOf(trustToken === undefined ? {} : { trustToken }));

  test('finds the key of an opened server in the file that a test of a change copies', async () => {
    const { backend } = await addedIncus.open(depsOf({ fingerprint: actual }));
    const lost = Promise.withResolvers<DomainError>();
    const watch = backend.require('inventory').watch({
      listed: () => undefined,
      changed: () => undefined,
      removed: () => undefined,
      lost: lost.resolve,
    });
    expect((await lost.promise).message).toContain('not trusted');
    await watch.stop();
    await backend.close();
    const file = join(folder, addedIncus.identityFile?.('far') ?? '');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      key: expect.any(String),
      certificate: expect.any(String),
    });
  });

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
