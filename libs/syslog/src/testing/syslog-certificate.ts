import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A self-signed certificate, in a folder of its own. */
export class SyslogCertificate {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-syslog-'));
  readonly path = join(this.folder, 'cert.pem');
  readonly keyPath = join(this.folder, 'key.pem');

  constructor(names = 'IP:127.0.0.1') {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const subject = ['-subj', '/CN=headgate', '-addext', `subjectAltName=${names}`];
    execFileSync('openssl', [...kind, ...subject, '-keyout', this.keyPath, '-out', this.path], { stdio: 'ignore' });
  }

  get pair() {
    return { cert: readFileSync(this.path, 'utf8'), key: readFileSync(this.keyPath, 'utf8') };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
