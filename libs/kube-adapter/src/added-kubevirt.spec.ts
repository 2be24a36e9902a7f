import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG, SettingError, SystemClock, type SettingsChange } from '@headgate/domain-contracts';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { stringify } from 'yaml';
import { addedKubevirt, type AddedKubevirtSettings } from './added-kubevirt.js';

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly more?: object;
}

const kubeconfig = ({ cluster = {}, user = { token: 'hush' }, more = {} }: Parts = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: 'https://cluster.example:6443', ...cluster } },
      { name: 'other', cluster: { server: 'https://other.example' } },
    ],
    users: [
      { name: 'ann', user },
      { name: 'bob', user: { token: 'of-bob' } },
    ],
    contexts: [
      { name: 'prod', context: { cluster: 'c', user: 'ann' } },
      { name: 'lab', context: { cluster: 'other', user: 'bob' } },
      { name: 'torn', context: { cluster: 'gone', user: 'ann' } },
    ],
    'current-context': 'prod',
    ...more,
  });

const reduce = (text: string, kubeContext?: string) => addedKubevirt.reduce('far', { kubeconfig: text, kubeContext });
const problemOf = (text: string, kubeContext?: string): string => {
  try {
    reduce(text, kubeContext);
  } catch (error) {
    if (error instanceof SettingError) return error.problem;
    throw error;
  }
  return 'accepted';
};

describe('the settings of an added cluster', () => {
  test('keep one context with its credentials, and show where it leads to without them', () => {
    const kept = reduce(kubeconfig());
    expect(addedKubevirt.describe(kept)).toEqual({ server: 'https://cluster.example:6443', user: 'ann' });
    expect(addedKubevirt.targets(kept)).toEqual([{ host: 'cluster.example', port: 6443 }]);
    expect(kept.kubeconfig).toContain('hush');
    expect(kept.kubeconfig).not.toContain('of-bob');
    expect(addedKubevirt.reduce('far', kept)).toEqual(kept);
  });

  test('choose another context, and the port of the scheme', () => {
    const kept = reduce(kubeconfig(), 'lab');
    expect(addedKubevirt.describe(kept)).toEqual({ server: 'https://other.example', user: 'bob' });
    expect(addedKubevirt.targets(kept)).toEqual([{ host: 'other.example', port: 443 }]);
    const literal = reduce(kubeconfig({ cluster: { server: 'http://[::1]:8080' } }));
    expect(addedKubevirt.targets(literal)).toEqual([{ host: '::1', port: 8080 }]);
  });

  test('say when the certificate is not checked', () => {
    const kept = reduce(kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }));
    expect(addedKubevirt.describe(kept)).toMatchObject({ certificate: 'not checked' });
  });

  test.each<[string, Parts]>([
    ['exec', { user: { exec: { command: '/bin/sh', apiVersion: 'client.authentication.k8s.io/v1' } } }],
    ['exec', { user: { token: 'hush', exec: { command: '/bin/sh' } } }],
    ['auth-provider', { user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh' } } } }],
    ['token-file', { user: { 'token-file': '/etc/shadow' } }],
    ['tokenFile', { user: { tokenFile: '/etc/shadow' } }],
    ['client-certificate', { user: { token: 'hush', 'client-certificate': '/etc/shadow' } }],
    ['client-key', { user: { token: 'hush', 'client-key': '/etc/shadow' } }],
    ['certificate-authority', { cluster: { 'certificate-authority': '/etc/shadow' } }],
    ['proxy-url', { cluster: { 'proxy-url': 'http://proxy.example' } }],
    ['as', { user: { token: 'hush', as: 'root' } }],
  ])('refuse a kubeconfig with %s', (key, parts) => {
    expect(problemOf(kubeconfig(parts))).toContain(`has the key ${key}, which is refused: `);
  });

  test.each<[string, string, string?]>([
    ['is not YAML', 'a: [b'],
    ['has no current-context', 'plain text'],
    ['has no current-context', kubeconfig({ more: { 'current-context': 7 } })],
    ['has no context named "none"', kubeconfig(), 'none'],
    ['has no cluster', kubeconfig(), 'torn'],
    ['has no user', kubeconfig({ more: { users: 'all' } })],
    ['has no credentials', kubeconfig({ user: {} })],
    ['has a value of token that is no string', kubeconfig({ user: { token: { a: 1 } } })],
    ['has a value of insecure', kubeconfig({ cluster: { 'insecure-skip-tls-verify': 'true' } })],
    ['names no server', kubeconfig({ cluster: { server: 'file:///etc/shadow' } })],
    ['names no server', kubeconfig({ cluster: { server: 'cluster.example' } })],
    ['whose URL has credentials', kubeconfig({ cluster: { server: 'https://a:b@cluster.example' } })],
    ['whose URL has credentials', kubeconfig({ cluster: { server: 'https://cluster.example/?a' } })],
  ])('refuse a kubeconfig that %s', (...[problem, text, kubeContext]) => {
    expect(problemOf(text, kubeContext)).toContain(problem);
  });

  test('quote no secret of a text that is not YAML', () => {
    const text = kubeconfig().replace('token: hush', 'token: *hush');
    expect(text).toContain('*hush');
    expect(problemOf(text)).toMatch(/^kubeconfig is not YAML/);
    expect(problemOf(text)).not.toContain('hush');
  });

  test('are bounded for text that repeats itself', () => {
    const levels = Array.from({ length: 30 }, (_, level) => `a${level}: &a${level} [${`*a${level - 1},`.repeat(10)}]`);
    levels[0] = 'a0: &a0 [b]';
    expect(problemOf(levels.join('\n'))).toContain('is not YAML');
  });

  test('are either a text or a file', () => {
    expect(() => addedKubevirt.reduce('far', {})).toThrow(SettingError);
    expect(() => addedKubevirt.reduce('far', { kubeconfig: kubeconfig(), kubeconfigFile: '/k' })).toThrow(SettingError);
    const kept = addedKubevirt.reduce('far', { kubeconfigFile: '/k', kubeContext: 'lab' });
    expect(addedKubevirt.targets(kept)).toEqual([{ path: '/k' }]);
    expect(addedKubevirt.describe(kept)).toEqual({ kubeconfigFile: '/k', kubeContext: 'lab' });
  });
});

describe('an added cluster', () => {
  test.each(['text', 'file'])('is reached with the %s of a kubeconfig', async (form) => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-added-'));
    const sandbox = await KubeSandbox.listen();
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, sandbox.kubeconfig());
    const given = form === 'text' ? { kubeconfig: sandbox.kubeconfig() } : { kubeconfigFile: file };
    const { backend } = await addedKubevirt.open({
      context: 'far',
      settings: addedKubevirt.reduce('far', given),
      dataDir: folder,
      clock: new SystemClock(),
      log: SILENT_LOG,
      peers: () => [],
      mayWrite: () => true,
      importAllow: [],
    });
    const checks = await backend.require('diagnostics').checks();
    // A bare API server: it answers, and has no KubeVirt.
    expect(checks).toContainEqual(expect.objectContaining({ name: 'api', status: 'ok' }));
    await backend.close();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });
});

describe('a change of the settings of an added cluster', () => {
  const kept = reduce(kubeconfig());
  const file = { kubeconfigFile: '/etc/kube/far', kubeContext: 'prod' };
  const merge = (change: SettingsChange, before: AddedKubevirtSettings = kept) =>
    addedKubevirt.merge('far', before, change);

  test('replaces the credentials only together with the server', () => {
    const text = kubeconfig({ user: { token: 'rotated' } });
    const changed = addedKubevirt.reduce('far', merge({ kubeconfig: text }));
    expect(changed.kubeconfig).toContain('rotated');
    expect(changed.kubeconfig).not.toContain('hush');
    expect(addedKubevirt.engineOf(changed)).toBe(addedKubevirt.engineOf(kept));
    const elsewhere = kubeconfig({ cluster: { server: 'https://evil.example' }, user: {} });
    expect(() => addedKubevirt.reduce('far', merge({ kubeconfig: elsewhere }))).toThrow('has no credentials');
  });

  test('takes the current context of a new kubeconfig, or a named one', () => {
    expect(merge({ kubeconfig: 'a' }, file)).toEqual({ kubeconfig: 'a' });
    expect(merge({ kubeconfig: 'a', kubeContext: 'lab' })).toEqual({ kubeconfig: 'a', kubeContext: 'lab' });
    expect(addedKubevirt.engineOf(reduce(kubeconfig(), 'lab'))).not.toBe(addedKubevirt.engineOf(kept));
  });

  test('needs the kubeconfig for another context of it', () => {
    expect(() => merge({ kubeContext: 'lab' })).toThrow(SettingError);
    expect(() => merge({ kubeContext: 'lab' })).toThrow('kubeconfig must be given again');
    expect(merge({ kubeContext: 'lab' }, file)).toEqual({ ...file, kubeContext: 'lab' });
  });

  test('replaces a text by a file without the kept credentials', () => {
    expect(merge({ kubeconfigFile: '/etc/kube/far' })).toEqual({ kubeconfigFile: '/etc/kube/far' });
    expect(merge({ kubeconfigFile: '/etc/kube/new', kubeContext: null }, file)).toEqual({
      kubeconfigFile: '/etc/kube/new',
    });
    expect(addedKubevirt.engineOf(file)).not.toBe(addedKubevirt.engineOf({ ...file, kubeContext: 'lab' }));
  });

  test('leaves unknown keys to the check of the settings', () => {
    expect(merge({ server: 'https://evil.example' })).toEqual({ ...kept, server: 'https://evil.example' });
  });
});
