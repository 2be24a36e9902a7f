import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BACKEND_KINDS } from '../engines/backend-kinds.js';
import { parseCommandLine } from './command-line.js';
import { loadSettings } from './load-config.js';

describe('parseCommandLine', () => {
  test('reads every option', () => {
    expect(parseCommandLine(['--sandbox', '--metrics', '--listen', '[::1]:80'])).toMatchObject({
      sandbox: 40,
      metrics: true,
      listen: '[::1]:80',
    });
    expect(parseCommandLine(['--sandbox=0', '--local'])).toMatchObject({ sandbox: 0, local: true });
    expect(parseCommandLine(['--local', '--containers', '/a'])).toMatchObject({ local: true, containers: '/a' });
    expect(() => parseCommandLine(['--containers', '/a'])).toThrow('--containers needs --local');
    expect(parseCommandLine(['--tls-cert', '/c', '--tls-key', '/k']).tls).toEqual({ certificate: '/c', key: '/k' });
    for (const one of [
      ['--tls-cert', '/c'],
      ['--tls-key', '/k'],
    ])
      expect(() => parseCommandLine(one)).toThrow('--tls-cert and --tls-key need each other');
  });

  test.each([['--sandbox=x'], ['--sandbox=-1'], ['--sandbox=10001'], ['--accelerator=xen'], ['--nope'], ['word']])(
    'refuses %s',
    (arg) => {
      expect(() => parseCommandLine([arg])).toThrow(/the command line/);
    },
  );
});

describe('loadSettings', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'headgate-config-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const load = (yaml: string, env = {}, args: string[] = []) => {
    const file = join(folder, 'headgate.yaml');
    writeFileSync(file, yaml);
    return loadSettings(parseCommandLine(['--config', file, ...args]), env);
  };

  test('prefers the command line to the environment, the environment to the file, and the file to the defaults', () => {
    const settings = load(
      'listen: 127.0.0.1:1\nadmins: [file]\ncontexts:\n  - { name: a/b, kind: libvirt, uri: "qemu:///system" }',
      { SVC_ADMINS: 'ann@example.org, bob  carol' },
      ['--listen', '127.0.0.1:2', '--data-dir', '/d'],
    );
    expect(settings).toMatchObject({
      listen: '127.0.0.1:2',
      admins: ['ann@example.org', 'bob', 'carol'],
      dataDir: '/d',
      metrics: false,
      loginHeader: 'Tailscale-User-Login',
    });
    expect(settings.contexts[0]).toMatchObject({ name: 'a/b' });
  });

  test('reads the certificate from the file, and its files from the command line', () => {
    const yaml = 'tls: { certificate: /a, key: /b, redirectFrom: "0.0.0.0:80" }';
    expect(load(yaml).tls).toMatchObject({ certificate: '/a', key: '/b', redirectFrom: '0.0.0.0:80' });
    expect(load(yaml, {}, ['--tls-cert', '/c', '--tls-key', '/k']).tls).toMatchObject({
      certificate: '/c',
      key: '/k',
      redirectFrom: '0.0.0.0:80',
    });
    expect(load('').tls).toBeUndefined();
    expect(() => load('tls: { certificate: /a }')).toThrow(/tls\.key/);
    expect(() => load('tls: { certificate: /a, key: /b, redirectFrom: 80 }')).toThrow(/redirectFrom/);
  });

  test('reads the exceptions for imports from the file and the environment', () => {
    expect(load('importAllow: [mirror.lan]').importAllow).toEqual(['mirror.lan']);
    expect(load('importAllow: [mirror.lan]', { SVC_IMPORT_ALLOW: '10.0.0.0/8, a.lan:5000' }).importAllow).toEqual([
      '10.0.0.0/8',
      'a.lan:5000',
    ]);
  });

  test('treats an empty SVC_ADMINS as no allowlist', () => {
    expect(load('{}', { SVC_ADMINS: ' , ' }).admins).toEqual([]);
  });

  test.each([
    ['listen: 8006', 'listen must be HOST:PORT'],
    ['listen: 127.0.0.1:80000', 'listen must be HOST:PORT'],
    ['lisen: a', 'lisen is not a known key'],
    ['journal: { syslog: { transport: tcp } }', 'journal.syslog.address must be HOST:PORT'],
    ['journal: { syslog: { address: "logs" } }', 'journal.syslog.address must be HOST:PORT'],
    ['journal: { syslog: { address: "logs:0" } }', 'journal.syslog.address must be HOST:PORT'],
    ['journal: { syslog: { address: "a:1", transport: sctp } }', 'journal.syslog.transport must be one of'],
    ['journal: { syslog: { address: "a:1", facility: kern } }', 'journal.syslog.facility must be one of'],
    ['journal: { syslog: { address: "a:1", transport: udp, ca: /a } }', 'journal.syslog.ca needs transport: tls'],
    ['trustedProxies: [nowhere]', 'trustedProxies must be a list of addresses'],
    [
      'contexts: [{ name: a, kind: libvirt, migrationTransport: plain }]',
      'contexts[0].migrationTransport must be one of the following values: tls, insecure',
    ],
    [
      'contexts: [{ name: a, kind: kubevirt, diskBuilds: { images: 7 } }]',
      'contexts[0].diskBuilds.images must be an array',
    ],
    [
      'contexts: [{ name: a, kind: kubevirt, metrics: { handlers: 1 } }]',
      'contexts[0].metrics.handlers must be a boolean value',
    ],
    [
      'contexts: [{ name: a, kind: kubevirt, metrics: { handler: true } }]',
      'contexts[0].metrics.handler is not a known key',
    ],
    ['contexts: [{ name: a, kind: sandbox, instances: -1 }]', 'contexts[0].instances must not be less than 0'],
    ['contexts: [{ name: a, kind: libvirt, url: "qemu:///system" }]', 'contexts[0].url is not a known key'],
    ['contexts: [{ name: a, kind: sandbox, settings: { instances: 1 } }]', 'contexts[0].settings is not a known key'],
    ['contexts: [{ name: a, kind: sandbox }, 7]', 'contexts[1]'],
    ['contexts: 7', 'contexts must be an array'],
    ['contexts: [{ name: a, kind: 7 }]', 'contexts[0].kind must be a string'],
    ['contexts: [{ name: a, kind: sandbox }, { name: a, kind: sandbox }]', 'contexts must have different names'],
    ['plugins: { indexes: ["file:///etc/passwd"] }', 'plugins.indexes must be http or https URLs'],
    ['plugins: { indexes: ["https://ann:secret@example.org/"] }', 'plugins.indexes must be http or https URLs'],
    ['plugins: { publishers: [{ name: acme, key: bm8= }] }', 'plugins.publishers[0].key must be an Ed25519 public key'],
    ['plugins: { publishers: [{ name: A/B, key: bm8= }] }', 'plugins.publishers[0].name must be a name'],
    ['plugins: { index: [] }', 'plugins.index is not a known key'],
    ...[
      'http://headgate.example.org',
      'https://192.0.2.1',
      'https://0x7f.1',
      'https://[::1]',
      'https://a.example/x',
      'a',
      '7',
    ].map((address): [string, string] => [
      `login: { address: "${address}" }`,
      'login.address must be an address such as',
    ]),
    ['tls: { key: a }', 'tls.certificate must be a file, unless there is tls.acme'],
    ['tls: { certificate: a }', 'tls.key must be a file, unless there is tls.acme'],
    ...(
      [
        ['domains: []', 'tls.acme.domains must contain at least 1 element'],
        ['domains: ["*.example.org"]', 'tls.acme.domains must be names'],
        ['domains: ["192.0.2.1"]', 'tls.acme.domains must be names'],
        ['domains: ["a.example.org/x"]', 'tls.acme.domains must be names'],
        ['directory: "http://localhost/dir"', 'tls.acme.directory must be an https URL'],
        ['directory: "https://ann:secret@example.org/dir"', 'tls.acme.directory must be an https URL'],
        ['agreeToTerms: false', 'read the terms of the authority first'],
        ['email: ops', 'tls.acme.email must be an email'],
        ['challenge: dns-01', 'tls.acme.challenge must be one of'],
        ['externalAccount: { keyId: a }', 'tls.acme.externalAccount.keyFile must be a string'],
        ['challenge: http-01', 'tls.acme with http-01 needs tls.redirectFrom'],
      ] as const
    ).map(([field, problem]): [string, string] => [
      `tls: { acme: { ${field.startsWith('domains') ? '' : 'domains: [a.example.org], '}${field.startsWith('agree') ? '' : 'agreeToTerms: true, '}${field} } }`,
      problem,
    ]),
    [
      'tls: { certificate: a, redirectFrom: "0.0.0.0:80", acme: { domains: [a.example.org], agreeToTerms: true } }',
      'tls must have either acme, or certificate and key',
    ],
    ['store: { kind: cluster }\nlogin: { local: true }', 'login needs login.keyFile with store.kind cluster'],
    [
      'store: { kind: cluster }\ntls: { acme: { domains: [a.example.org], agreeToTerms: true, challenge: tls-alpn-01 } }',
      'tls.acme needs store.kind file',
    ],
    ['loginHeader: "X User"', 'loginHeader must be the name of a header'],
    ['nameHeader: [X]', 'nameHeader must be the name of a header'],
    ['metrics: "yes"', 'metrics must be a boolean value'],
    ['- a', 'it must hold keys and values'],
    ['a: [', 'it is not YAML'],
  ])('refuses «%s» and names the key', (yaml, problem) => {
    expect(() => load(yaml)).toThrow(problem);
  });

  test('gives each context the settings of its kind', () => {
    const { contexts } = load(
      'contexts:\n  - { name: a, kind: kubevirt, diskBuilds: { images: ["*"] } }\n  - { name: b, kind: sandbox }',
    );
    expect(contexts).toEqual([
      { name: 'a', kind: 'kubevirt', settings: { diskBuilds: { images: ['*'] } } },
      { name: 'b', kind: 'sandbox', settings: {} },
    ]);
    expect(contexts[0]?.settings).toBeInstanceOf(BACKEND_KINDS.kubevirt.settings);
  });

  test('names every key that is wrong, of the service and of its contexts', () => {
    const yaml =
      'listen: 8006\ncontexts: [{ name: a, kind: libvirt, uri: 7 }, { name: b, kind: sandbox, instances: x }]';
    expect(() => load(yaml)).toThrow(
      /listen must be HOST:PORT.*contexts\[0\]\.uri must be a libvirt URI.*contexts\[1\]\.instances must/,
    );
  });

  test('names a file that it cannot read', () => {
    expect(() => loadSettings(parseCommandLine(['--config', join(folder, 'none.yaml')]), {})).toThrow(
      /none\.yaml: the file can't be read \(ENOENT\)/,
    );
  });
});
