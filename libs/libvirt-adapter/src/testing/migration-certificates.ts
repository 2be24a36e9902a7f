import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A folder with certificates as QEMU expects them, for one address. Its owner is the given user. */
export async function createMigrationCertificates(address: string, owner: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hgm-tls-'));
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'rsa:2048', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca-key.pem',
    '-out',
    'ca-cert.pem',
    '-subj',
    '/CN=test',
    '-days',
    '2',
  );
  await writeFile(join(folder, 'names'), `subjectAltName=IP:${address}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  for (const name of ['server', 'client']) {
    await openssl('req', ...newKey, '-keyout', `${name}-key.pem`, '-out', 'request', '-subj', `/CN=${address}`);
    const signed = ['-CA', 'ca-cert.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await openssl('x509', '-req', '-in', 'request', '-out', `${name}-cert.pem`, ...signed);
  }
  for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))])
    await chown(path, owner, owner);
  return folder;
}
