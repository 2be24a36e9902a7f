import { DomainError, messageOf } from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { namesTakenNode } from '../programs/translate-failure.js';

/** libvirt's names for the nodes through which QEMU copies a disk to another host. The outer one uses the inner one. */
const LEFTOVER = /^migration-.+-(format|storage)$/;

/**
 * Runs a migration. If the QEMU of its guest still has block nodes of an earlier one, which libvirt has forgotten
 * because it was killed, they are removed and the migration is run again.
 */
export async function withoutLeftoverNodes(
  { uuid, name }: DomainId,
  { blocks }: Pick<LibvirtConnection, 'blocks'>,
  migrate: () => Promise<void>,
): Promise<void> {
  try {
    return await migrate();
  } catch (error) {
    if (!namesTakenNode(error)) throw error;
    try {
      const found = (await blocks.nodes(uuid)).filter((node) => LEFTOVER.test(node));
      for (const node of found.sort()) await blocks.removeNode(uuid, node);
    } catch (cause) {
      throw new DomainError(
        'WRONG_STATE',
        `The QEMU of ${name} still has the copy of a disk that an interrupted migration has left, and can't remove it (${messageOf(cause)}): stop ${name} and start it again, then migrate it.`,
        { cause: error },
      );
    }
  }
  return migrate();
}
