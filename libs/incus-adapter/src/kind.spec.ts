import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { SILENT_LOG, SystemClock } from '@headgate/domain-contracts';
import { discoverIncus } from './discover-incus.js';
import { incusKind, type IncusSettings } from './kind.js';

const problemsOf = (settings: object): string[] =>
  validateSync(plainToInstance(incusKind.settings, settings), { whitelist: true, forbidNonWhitelisted: true }).map(
    ({ property }) => property,
  );
const open = (settings: IncusSettings) =>
  incusKind.open({
    context: 'lab',
    settings,
    dataDir: '/nonexistent',
    clock: new SystemClock(),
    log: SILENT_LOG,
    peers: () => [],
    mayWrite: () => true,
    importAllow: [],
  });
const fingerprint = 'ab'.repeat(32);

describe('the settings of a server', () => {
  test('are optional, and have no other keys', () => {
    expect(problemsOf({})).toEqual([]);
    expect(
      problemsOf({
        address: 'https://host:8443',
        fingerprint,
        trustToken: 'eyJhIjoxfQ==',
        project: 'web',
        pool: 'fast',
        imageServers: [{ name: 'images', url: 'https://images.example.org', protocol: 'oci' }],
      }),
    ).toEqual([]);
    expect(problemsOf({ kubeconfig: '/k' })).toEqual(['kubeconfig']);
  });

  test.each([
    ['socket', { socket: 'relative' }],
    ['address', { address: 'http://host:8443' }],
    ['address', { address: 'https://user@host' }],
    ['fingerprint', { fingerprint: 'abc' }],
    ['trustToken', { trustToken: 'a b' }],
    ['project', { project: 'a&b' }],
    ['imageServers', { imageServers: [{ name: 'images', url: 'http://images' }] }],
    ['imageServers', { imageServers: [{ name: 'a:b', url: 'https://images' }] }],
  ])('refuse a wrong %s', (property, settings) => {
    expect(problemsOf(settings)).toEqual([property]);
  });

  test.each([
    [{ socket: '/a', address: 'https://a' }, 'must not be given together'],
    [{ fingerprint }, 'need address'],
    [{ address: 'https://a', trustToken: 'eyJhIjoxfQ==' }, 'must be a token'],
    [{ address: 'https://a', clientKey: '/k' }, 'must be given together'],
  ])('refuse %j', async (settings, problem) => {
    await expect(open(settings)).rejects.toThrow(problem);
  });

  test('with a project have no other namespace', async () => {
    const { backend } = await open({ socket: '/nonexistent/socket', project: 'web' });
    expect(backend.traits.namespaces).toEqual({ default: 'web', isOnlyOne: true });
    await backend.close();
  });
});

describe('the server of this machine', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-incus-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is the first one whose socket can be written to', async () => {
    const sockets = [
      { engine: 'Incus', path: join(folder, 'none') },
      { engine: 'LXD', path: join(folder, 'socket') },
    ];
    expect(await discoverIncus(sockets)).toBeUndefined();
    await writeFile(join(folder, 'socket'), '');
    expect(await discoverIncus(sockets)).toEqual({
      context: 'local',
      settings: { socket: join(folder, 'socket') },
      description: 'LXD on this machine',
    });
  });
});
