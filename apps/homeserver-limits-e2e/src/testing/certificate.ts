import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this machine can create certificates. */
export const canCreateCertificates = spawnSync('openssl', ['version']).status === 0;

/** A self-signed certificate for 127.0.0.1 and localhost. */
export class Certificate {
  private constructor(
    private readonly folder: string,
    readonly cert: string,
    readonly key: string,
  ) {}

  static async create(): Promise<Certificate> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-certificate-'));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    const { status, stderr } = spawnSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
    if (status !== 0) throw new Error(`openssl: ${stderr.toString('utf8')}`);
    return new Certificate(folder, await readFile(cert, 'utf8'), await readFile(key, 'utf8'));
  }

  get certPath(): string {
    return join(this.folder, 'cert.pem');
  }

  get keyPath(): string {
    return join(this.folder, 'key.pem');
  }

  dispose(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
