import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RpcConnectionError } from '../errors.js';

/** PEM files of this client. */
export interface Certificates {
  /** The authority that has signed the certificate of the server. */
  readonly ca: Buffer;
  /** Absent where this client has no certificate, which a server may accept. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface CertificateFolders {
  /** The only folder, from the parameter `pkipath`. */
  readonly pkiPath?: string;
  /** The home of the user, who is asked first if they are not root. */
  readonly home?: string;
  readonly isRoot?: boolean;
  readonly system?: string;
}

/**
 * Reads the certificates from the places where libvirt's client expects them: https://libvirt.org/kbase/tlscerts.html
 * @throws RpcConnectionError `unreachable` if there is no authority, or if `pkiPath` lacks a file
 */
export async function readCertificates({
  pkiPath,
  home = homedir(),
  isRoot = process.geteuid?.() === 0,
  system = '/etc/pki',
}: CertificateFolders): Promise<Certificates> {
  if (pkiPath !== undefined) {
    const [ca, cert, key] = (await Promise.all(
      ['cacert.pem', 'clientcert.pem', 'clientkey.pem'].map((name) => readRequired(join(pkiPath, name))),
    )) as [Buffer, Buffer, Buffer];
    return { ca, cert, key };
  }
  const user = join(home, '.pki/libvirt');
  const ca = isRoot ? undefined : await read(join(user, 'cacert.pem'));
  const own = isRoot ? undefined : await readPair(join(user, 'clientcert.pem'), join(user, 'clientkey.pem'));
  return {
    ca: ca ?? (await readRequired(join(system, 'CA/cacert.pem'))),
    ...(own ?? (await readPair(join(system, 'libvirt/clientcert.pem'), join(system, 'libvirt/private/clientkey.pem')))),
  };
}

async function readPair(certFile: string, keyFile: string): Promise<Omit<Certificates, 'ca'> | undefined> {
  const [cert, key] = await Promise.all([read(certFile), read(keyFile)]);
  return cert && key && { cert, key };
}

const read = (file: string): Promise<Buffer | undefined> => readFile(file).catch(() => undefined);

async function readRequired(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new RpcConnectionError('unreachable', `TLS: the file ${file} can't be read`, { cause });
  }
}
