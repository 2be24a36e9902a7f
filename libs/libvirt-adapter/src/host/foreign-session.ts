import { stat } from 'node:fs/promises';
import { DomainError, type Refusal } from '@headgate/domain-contracts';
import { parseLibvirtUri } from '@headgate/libvirt-rpc';

/** The user of this process and the owner of a file, replaced in tests. */
export interface Users {
  readonly own: () => number | undefined;
  readonly ownerOf: (path: string) => Promise<number | undefined>;
}

const REAL_USERS: Users = {
  own: () => process.geteuid?.(),
  ownerOf: async (path) => (await stat(path).catch(() => undefined))?.uid,
};

/**
 * Why root does not read or write files that another user names: the VMs of a session daemon, the headers of their
 * disks and the folders of its pools name any file of this machine. Undefined when this process may.
 */
export async function foreignSessionRefusal(uri: string, users: Users = REAL_USERS): Promise<Refusal | undefined> {
  if (users.own() !== 0) return undefined;
  for (const socket of socketsOf(uri)) {
    const owner = await users.ownerOf(socket);
    if (owner === undefined) continue;
    if (owner === 0) return undefined;
    return {
      code: 'NOT_SUPPORTED',
      reason: `This libvirt belongs to the user ${owner}, whose VMs may name any file as their disk, and this service is root.`,
      remedy: 'Run a service as that user.',
    };
  }
  return undefined;
}

/** @throws DomainError NOT_SUPPORTED for the `foreignSessionRefusal` */
export async function expectOwnSession(uri: string, users?: Users): Promise<void> {
  const refusal = await foreignSessionRefusal(uri, users);
  if (refusal) throw new DomainError(refusal.code, `${refusal.reason} ${refusal.remedy}`);
}

function socketsOf(uri: string): readonly string[] {
  try {
    const { isSession, transport } = parseLibvirtUri(uri);
    return isSession && transport.kind === 'unix' ? transport.sockets : [];
  } catch {
    return [];
  }
}
