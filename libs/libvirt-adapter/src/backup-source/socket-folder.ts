import { constants } from 'node:fs';
import { access, chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute } from '../xml/xml.js';

/** A folder in which the QEMU of a domain may create a socket. */
export interface SocketFolder {
  readonly path: string;
  /** Removes the socket, and the folder if it was created. */
  release(): Promise<void>;
}

/** The kernel's limit for paths of sockets, without the zero at the end. */
const MAX_SOCKET_BYTES = 107;
/** libvirt shortens the name of the domain in the name of its folder. */
const MAX_NAME_CHARS = 20;

/**
 * The folder that libvirt has created for the running domain, because AppArmor and SELinux let its QEMU write there;
 * otherwise a new one that belongs to the user of that QEMU.
 */
export async function socketFolder(
  description: DomainDescription,
  { uri, socket, diskPath }: { readonly uri: string; readonly socket: string; readonly diskPath: string },
): Promise<SocketFolder> {
  const own = join(stateFolder(uri), domainFolder(description));
  const fits = (folder: string): boolean => Buffer.byteLength(join(folder, socket)) <= MAX_SOCKET_BYTES;
  if (fits(own) && (await isUsable(own))) return { path: own, release: () => rm(join(own, socket), { force: true }) };
  const created = await mkdtemp(join(tmpdir(), 'headgate-backup-'));
  const release = (): Promise<void> => rm(created, { recursive: true, force: true });
  try {
    if (!fits(created))
      throw new DomainError('NOT_SUPPORTED', `The path of the folder for temporary files, ${tmpdir()}, is too long.`);
    // libvirt gives the disks of a running domain to the user of its QEMU.
    const { uid, gid } = await stat(diskPath);
    if (process.getuid?.() === 0) await chown(created, uid, gid);
    return { path: created, release };
  } catch (error) {
    await release();
    throw error;
  }
}

const stateFolder = (uri: string): string =>
  /\/session(?:\?|$)/.test(uri)
    ? join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'libvirt/qemu/lib')
    : '/var/lib/libvirt/qemu';

const domainFolder = ({ name, document }: DomainDescription): string =>
  `domain-${attribute(document, 'id') ?? ''}-${[...name].slice(0, MAX_NAME_CHARS).join('')}`;

const isUsable = (folder: string): Promise<boolean> =>
  access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
