import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hasOpenssl = (): boolean => spawnSync('openssl', ['version']).status === 0;

/** Creates a certificate for localhost that signs itself, and its key, in `NAME.pem` and `NAME.key` of a folder. */
export function createTestCertificate(folder: string, name: string): { cert: string; key: string } {
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  execFileSync('openssl', [...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

/** Creates a certificate for a name that another test certificate has signed, and its key, valid for 90 days. */
export function signTestCertificate(folder: string, root: string, name: string): { cert: string; key: string } {
  const path = (file: string): string => join(folder, file);
  const run = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  run('req', ...curve, '-subj', `/CN=${name}`, '-keyout', path(`${name}.key`), '-out', path(`${name}.csr`));
  writeFileSync(path(`${name}.ext`), `subjectAltName=DNS:${name}`);
  const signer = ['-CA', path(`${root}.pem`), '-CAkey', path(`${root}.key`), '-CAcreateserial', '-days', '90'];
  const files = ['-in', path(`${name}.csr`), '-extfile', path(`${name}.ext`), '-out', path(`${name}.pem`)];
  run('x509', '-req', ...signer, ...files);
  return { cert: readFileSync(path(`${name}.pem`), 'utf8'), key: readFileSync(path(`${name}.key`), 'utf8') };
}
