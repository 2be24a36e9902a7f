import { DomainError, messageOf } from '@headgate/domain-contracts';

/** @throws DomainError NOT_READY when the store can't be written; nothing has changed then */
export async function expectWritable(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('NOT_READY', `The journal of the task can't be written: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}
