import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import { TlsFiles } from './tls-files.js';

const canCertify = spawnSync('openssl', ['version']).status === 0;
const why = canCertify ? '' : ': skipped, openssl is not installed';

(canCertify ? describe : describe.skip)(`TlsFiles${why}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-files-'));
  const path = (name: string): string => join(folder, name);
  const create = (name: string): void => {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const files = ['-keyout', path(`${name}.key`), '-out', path(`${name}.pem`), '-subj', `/CN=${name}`];
    execFileSync('openssl', [...kind, ...files], { stdio: 'ignore' });
  };
  const copy = (from: string, to: string): void => writeFileSync(path(to), readFileSync(path(from)));

  beforeAll(() => {
    create('first');
    create('second');
    writeFileSync(path('text'), 'no PEM, but a secret');
    const passphrase = ['-aes256', '-passout', 'pass:secret'];
    execFileSync('openssl', ['ec', ...passphrase, '-in', path('first.key'), '-out', path('locked.key')], {
      stdio: 'ignore',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    copy('first.pem', 'cert');
    copy('first.key', 'key');
  });

  const open = (certificate = 'cert', key = 'key') =>
    new TlsFiles({ certificate: path(certificate), key: path(key) }, 'headgate.yaml');

  test('reads a certificate and its key', () => {
    const { leaf, cert, key } = open().current;
    expect(leaf.subject).toBe('CN=first');
    expect([cert, key]).toEqual([readFileSync(path('first.pem'), 'utf8'), readFileSync(path('first.key'), 'utf8')]);
  });

  test.each([
    ['missing', 'key', /tls\.certificate: .*missing can't be read \(ENOENT\)/],
    ['cert', 'missing', /tls\.key: .*missing can't be read \(ENOENT\)/],
    ['text', 'key', /tls\.certificate: .*text is not a certificate in PEM/],
    ['key', 'key', /is not a certificate/],
    ['cert', 'text', /tls\.key: .*text is not a private key in PEM/],
    ['cert', 'locked.key', /without a passphrase/],
    ['cert', 'second.key', /does not belong to the certificate/],
  ])('refuses the files %s and %s', (certificate, key, message) => {
    const opened = () => open(certificate, key);
    expect(opened).toThrow(ConfigError);
    expect(opened).toThrow(message);
    expect(opened).not.toThrow(/secret/);
  });

  test('takes a new pair, and reports no change without one', () => {
    const files = open();
    expect(files.reload()).toBeUndefined();
    copy('second.pem', 'cert');
    copy('second.key', 'key');
    expect(files.reload()?.leaf.subject).toBe('CN=second');
    expect(files.current.leaf.subject).toBe('CN=second');
    expect(files.reload()).toBeUndefined();
  });

  test('keeps the current pair while only one file is replaced, or is gone', () => {
    const files = open();
    copy('second.pem', 'cert');
    expect(() => files.reload()).toThrow(/does not belong/);
    rmSync(path('cert'));
    expect(() => files.reload()).toThrow(/ENOENT/);
    expect(files.current.leaf.subject).toBe('CN=first');
    copy('second.pem', 'cert');
    copy('second.key', 'key');
    expect(files.reload()?.leaf.subject).toBe('CN=second');
  });
});
