import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { DomainRemover } from '../removal/domain-remover.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { closeChannel } from './migration-channel.js';
import { CREATED_THERE, removeCopies } from './migrated-files.js';
import type { MigrationHost } from './migration-host.js';

/** How often a host that can't be reached is asked again. */
const RETRY_MS = 5000;

export interface SettlementDeps {
  readonly self: MigrationHost;
  /** The other libvirt contexts of the service. */
  readonly others: () => readonly MigrationHost[];
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;
  readonly lock: KeyedLock;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Brings both hosts into one of two states, whatever happened before: the guest runs on the destination and the source
 * has nothing of it, or the guest stays on the source and the destination has nothing of it. Both hosts are asked;
 * nothing is removed while one of them can't answer.
 */
export class MigrationSettlement {
  private isClosed = false;
  private wake = (): void => undefined;

  constructor(private readonly deps: SettlementDeps) {}

  close(): void {
    this.isClosed = true;
    this.wake();
  }

  /** Settles it as soon as both hosts can be asked. Ends early when the backend is closed. */
  async settleLater(id: DomainId): Promise<void> {
    for (;;) {
      if (this.isClosed) return;
      try {
        return await this.settle(id);
      } catch (error) {
        if (!DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BUSY')) throw error;
        this.deps.log.warn({ domain: id.name, reason: messageOf(error) }, 'a migration is settled later');
      }
      await Promise.race([this.deps.clock.delay(RETRY_MS), new Promise<void>((resolve) => (this.wake = resolve))]);
    }
  }

  /** @throws DomainError BACKEND_UNREACHABLE, BUSY while the destination still ends its part */
  async settle({ uuid, name }: DomainId): Promise<void> {
    const { self, lock, log } = this.deps;
    await lock.run(uuid, async () => {
      const domain = await self.connection.domains.inspect(uuid);
      // libvirt removes the domain of a migration over shared storage.
      if (!domain) return;
      const { pending, volumes } = describeDomain(domain.xml).metadata;
      if (pending?.kind !== 'migration') return;
      const host = this.deps.others().find(({ context }) => context === pending.target);
      if (!host) {
        const reason = `the context ${pending.target ?? ''} is not configured`;
        log.warn({ domain: name, reason }, 'a migration can not be settled');
        return;
      }
      // One that its user has paused may have been handed over as well.
      const isPaused = domain.state.word === 'paused';
      const hasStayed = pending.isCanceled === true || (domain.state.isActive && !isPaused);
      if (!hasStayed && (await this.hasArrived(host, uuid)))
        return this.complete(uuid, pending, { host, isActive: domain.state.isActive });
      // QEMU there may have ended just now, which this libvirt finds out within seconds.
      if (await self.connection.jobs.current(uuid))
        throw new DomainError('BUSY', `${self.context} still ends its part of the migration of ${name}.`);
      if (isPaused && domain.state.reason === 'migrating') await self.connection.domains.resume(uuid);
      await this.undo(uuid, { pending, volumes }, host);
    });
  }

  /** Records that the guest stays, so that it can be started again even while the destination can't be reached. */
  async cancel({ uuid }: DomainId, created: readonly string[]): Promise<void> {
    const { lock, editor } = this.deps;
    await lock.run(uuid, () =>
      editor.updateMetadata(uuid, (metadata) =>
        metadata.pending?.kind === 'migration'
          ? {
              ...metadata,
              pending: {
                ...metadata.pending,
                isCanceled: true,
                disks: metadata.pending.disks.filter((disk) => created.includes(disk.name)),
              },
            }
          : metadata,
      ),
    );
  }

  /**
   * Whether the guest has reached a host: libvirt stores its configuration there when it lets it run.
   * @throws DomainError BUSY while a guest that has not arrived is still being ended there
   */
  async hasArrived({ context, connection }: MigrationHost, uuid: string): Promise<boolean> {
    const domain = await connection.domains.inspect(uuid);
    if (domain && !domain.isPersistent) {
      throw new DomainError('BUSY', `${context} still ends the part of the migration that has arrived.`);
    }
    return domain !== undefined;
  }

  private async complete(
    uuid: string,
    { disks }: PendingChange,
    { host, isActive }: { readonly host: MigrationHost; readonly isActive: boolean },
  ): Promise<void> {
    const { self, remover } = this.deps;
    await closeChannel(host, uuid);
    // It is paused, and its guest runs on the other host.
    if (isActive) await self.connection.domains.destroy(uuid).catch(ignoreStopped);
    const isShared = disks.length === 0;
    // On shared storage, the files belong to the domain on the other host now.
    if (isShared) await self.connection.domains.undefine(uuid, { keepsNvram: true });
    else await remover.remove(uuid);
  }

  private async undo(
    uuid: string,
    { pending: { disks }, volumes }: { readonly pending: PendingChange; readonly volumes: InstanceMetadata['volumes'] },
    host: MigrationHost,
  ): Promise<void> {
    if (disks.length > 0) {
      // Throws while QEMU there may still use the files.
      await this.hasArrived(host, uuid);
      const createdThere = volumes.filter(({ role }) => CREATED_THERE.includes(role));
      await removeCopies(host, [...disks, ...createdThere].map(({ name }) => name)); // prettier-ignore
    }
    await closeChannel(host, uuid);
    await this.deps.editor.updateMetadata(uuid, ({ pending: _undone, ...metadata }) => metadata);
  }
}

function ignoreStopped(error: unknown): void {
  if (!DomainError.is(error, 'WRONG_STATE')) throw error;
}
