import { DomainError, type Refusal } from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';

/** The domains whose disks this process is changing: only one change at a time, and the others are refused. */
export class DiskHolds {
  /** With the promise of their end. */
  private readonly held = new Map<string, Promise<void>>();

  has(uuid: string): boolean {
    return this.held.has(uuid);
  }

  /** @throws DomainError BUSY */
  expectFree({ uuid, name }: DomainId): void {
    if (!this.held.has(uuid)) return;
    const { code, reason } = busyRefusal(name);
    throw new DomainError(code, reason);
  }

  /** @throws DomainError BUSY */
  async run<T>(id: DomainId, work: () => Promise<T>): Promise<T> {
    this.expectFree(id);
    let free = (): void => undefined;
    this.held.set(id.uuid, new Promise((resolve) => (free = resolve)));
    try {
      return await work();
    } finally {
      this.held.delete(id.uuid);
      free();
    }
  }

  /** Resolves when no change is in progress; another one may begin right afterwards. */
  async whenFree(uuid: string): Promise<void> {
    await this.held.get(uuid);
  }
}

export const busyRefusal = (name: string): Refusal => ({
  code: 'BUSY',
  reason: `Another change of the disks of ${name} is in progress.`,
  remedy: 'Wait until it has ended.',
});
