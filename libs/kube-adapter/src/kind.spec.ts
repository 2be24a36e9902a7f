import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG, SettingError, SystemClock, type BackendDeps } from '@headgate/domain-contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { kubevirtKind, type KubevirtSettings } from './kind.js';

const problemsOf = (settings: object): string[] =>
  validateSync(plainToInstance(kubevirtKind.settings, settings), {
    whitelist: true,
    forbidNonWhitelisted: true,
  }).map(({ property }) => property);

describe('the settings of a cluster', () => {
  test('are optional, and have no other keys', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ kubeconfig: '/k', kubeContext: 'c', uploadProxy: 'https://cdi.example.org' })).toEqual([]);
    expect(problemsOf({ uri: 'qemu:///system' })).toEqual(['uri']);
  });

  test.each([
    ['kubeconfig', { kubeconfig: '' }],
    ['kubeContext', { kubeContext: 7 }],
    ['uploadProxy', { uploadProxy: 'cdi.example.org' }],
    ['diskBuilds', { diskBuilds: { images: [''] } }],
    ['diskBuilds', { diskBuilds: { images: ['*'], timeoutMinutes: 0 } }],
  ])('refuse a wrong %s', (property, settings) => {
    expect(problemsOf(settings)).toEqual([property]);
  });
});

describe('opening a cluster', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'headgate-kind-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const deps = (settings: KubevirtSettings): BackendDeps<KubevirtSettings> => ({
    context: 'lab',
    settings: { kubeconfig: join(folder, 'none'), ...settings },
    dataDir: folder,
    clock: new SystemClock(),
    log: SILENT_LOG,
    peers: () => [],
    mayWrite: () => true,
    importAllow: [],
  });

  test('needs neither a kubeconfig nor a cluster', async () => {
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, '');
    const { backend, isSimulated } = await kubevirtKind.open(deps({ uploadProxyCa: ca }));
    expect(backend).toMatchObject({ context: 'lab', kind: 'kubevirt' });
    expect(isSimulated).toBeUndefined();
    await backend.close();
  });

  test('refuses a file of authorities that it can not read', async () => {
    const file = join(folder, 'gone.pem');
    const failure = await kubevirtKind.open(deps({ uploadProxyCa: file })).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SettingError);
    expect(failure).toMatchObject({
      source: file,
      problem: expect.stringMatching(/^uploadProxyCa can't be read \(.*ENOENT/),
    });
  });
});
