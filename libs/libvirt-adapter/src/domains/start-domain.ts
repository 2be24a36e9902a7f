import { DomainError } from '@headgate/domain-contracts';
import type { DomainOperations } from '../connection/domain-operations.js';

/** Starting QEMU can take long on a slow or busy machine. */
const START_TIMEOUT_MS = 90_000;

/**
 * Starts a stopped domain. On a busy machine, libvirt 9.0 has reported that a QEMU ended while it started right after a
 * forced stop, probably because it applied the end of the previous QEMU to the new one. Such a start is repeated once.
 */
export async function startDomain(domains: DomainOperations, uuid: string): Promise<void> {
  const start = (): Promise<void> => domains.start(uuid, { timeoutMs: START_TIMEOUT_MS });
  try {
    await start();
  } catch (error) {
    if (!DomainError.is(error, 'WRONG_STATE')) throw error;
    const domain = await domains.inspect(uuid);
    if (!domain || domain.state.isActive) throw error;
    await start();
  }
}
