import { DomainError } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainId } from '../domains/domain-finder.js';

/** A backup of a running domain ends with it. @throws DomainError WRONG_STATE if it has stopped, otherwise the error */
export async function explainStop(
  { uuid, name }: DomainId,
  { domains }: Pick<LibvirtConnection, 'domains'>,
  error: unknown,
): Promise<never> {
  const domain = await domains.inspect(uuid).catch(() => undefined);
  if (domain?.state.isActive) throw error;
  throw new DomainError('WRONG_STATE', `${name} has stopped while it was backed up.`, { cause: error });
}
