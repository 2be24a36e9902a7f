import { execFile, spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Why there are no certificates for tests; undefined where there are. */
export const whyNoCertificates =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed';

/** An authority of one test, with the folder of a client. */
export class TestAuthority {
  private constructor(readonly folder: string) {}

  static async create(): Promise<TestAuthority> {
    const authority = new TestAuthority(await mkdtemp(join(tmpdir(), 'hgrpc-tls-')));
    await authority.openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      'ca-key.pem',
      '-out',
      'cacert.pem',
      '-subj',
      '/CN=test',
      '-days',
      '2',
    );
    return authority;
  }

  /**
   * Signs a certificate; both files are in the folder.
   * @param address an IP address
   * @param isOld whether only the common name has the address
   */
  async sign(name: string, address: string, isOld = false): Promise<{ readonly cert: string; readonly key: string }> {
    const [cert, key] = [`${name}cert.pem`, `${name}key.pem`];
    await writeFile(
      join(this.folder, 'names'),
      `${isOld ? '' : `subjectAltName=IP:${address}\n`}extendedKeyUsage=serverAuth,clientAuth\n`,
    );
    await this.openssl('req', ...NEW_KEY, '-keyout', key, '-out', 'request', '-subj', `/CN=${isOld ? address : name}`);
    const signed = ['-CA', 'cacert.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await this.openssl('x509', '-req', '-in', 'request', '-out', cert, ...signed);
    return { cert: join(this.folder, cert), key: join(this.folder, key) };
  }

  /** A folder as `pkipath` names it. */
  async clientFolder(): Promise<string> {
    const folder = join(this.folder, 'client');
    const { cert, key } = await this.sign('client', '127.0.0.1');
    await mkdir(folder);
    await copyFile(join(this.folder, 'cacert.pem'), join(folder, 'cacert.pem'));
    await copyFile(cert, join(folder, 'clientcert.pem'));
    await copyFile(key, join(folder, 'clientkey.pem'));
    return folder;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private openssl(...args: string[]): Promise<unknown> {
    return run('openssl', args, { cwd: this.folder });
  }
}
