import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const canCertify = spawnSync('openssl', ['version']).status === 0;

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for one host name, which is its own authority. */
export function createCertificate(host: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-mail-'));
  const path = (name: string): string => join(folder, name);
  try {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const files = ['-keyout', path('key'), '-out', path('cert')];
    execFileSync('openssl', [...kind, ...names, ...files], { stdio: 'ignore' });
    return { cert: readFileSync(path('cert'), 'utf8'), key: readFileSync(path('key'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
