import { buildPlan, DomainError, type Plan, type PlanStep, type Refusal } from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainState } from '../connection/domain-state.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import { findDisks, type FoundDisks } from '../snapshots/snapshot-disks.js';
import {
  deviceRefusals,
  hypervisorRefusals,
  isSameMachine,
  networkRefusals,
  networkWarnings,
} from './migration-checks.js';
import { checkDestinationSpace, findCopies, isSharedPool, type VolumeCopy } from './migrated-files.js';
import { chooseChannel, type MigrationChannel } from './migration-channel.js';
import { findHost, type MigrationHost } from './migration-host.js';
import { placementRefusals } from './placement-checks.js';

export interface PrepareDeps {
  readonly self: MigrationHost;
  /** The other libvirt contexts of the service. */
  readonly others: () => readonly MigrationHost[];
  readonly holds: DiskHolds;
}

/** A guest that can be migrated, or the refusals in the plan. */
export interface PreparedMigration {
  readonly id: DomainId;
  readonly description: DomainDescription;
  readonly state: DomainState;
  /** Absent if no host was found. */
  readonly host?: MigrationHost;
  /** Absent if the migration is refused. */
  readonly channel?: MigrationChannel;
  readonly isShared: boolean;
  /** Empty if the storage is shared. */
  readonly copies: readonly VolumeCopy[];
  readonly plan: Plan;
}

interface Guest {
  readonly id: DomainId;
  readonly description: DomainDescription;
  readonly state: DomainState;
  readonly found: FoundDisks;
}

const refuse = (code: Refusal['code'], reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** Checks everything that can be known before a migration. Changes nothing. */
export class MigrationPreparation {
  constructor(private readonly deps: PrepareDeps) {}

  /**
   * @param options.isRun whether the pool of the destination may be started
   * @param options.isHolder whether the caller keeps other changes of the disks away
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE for a host that does not answer
   */
  async prepare(
    id: DomainId,
    target: string | undefined,
    { isRun = false, isHolder = false }: { readonly isRun?: boolean; readonly isHolder?: boolean } = {},
  ): Promise<PreparedMigration> {
    const guest = await this.inspect(id);
    const own = this.ownRefusals(guest, isHolder);
    if (own.length > 0) return failed(guest, own);
    try {
      return target === undefined
        ? await this.choose(guest, isRun)
        : await this.fit(guest, await this.find(target), isRun);
    } catch (error) {
      if (!DomainError.is(error, 'NODE_NOT_FOUND', 'WRONG_STATE')) throw error;
      return failed(guest, [refuse(error.code, error.message, 'Choose another node.')]);
    }
  }

  private find(target: string): Promise<MigrationHost> {
    return findHost(this.deps.self, this.deps.others(), target);
  }

  private async inspect(id: DomainId): Promise<Guest> {
    const { connection, pool } = this.deps.self;
    const domain = await connection.domains.inspect(id.uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${id.name} no longer exists.`);
    const { state, isPersistent } = domain;
    const description = describeDomain(domain.xml);
    const editable = { description, isPersistent, isActive: state.isActive };
    return { id, description, state, found: findDisks(editable, await pool.path().catch(() => '')) };
  }

  /** What prevents a migration to any host. */
  private ownRefusals({ id, description, state, found }: Guest, isHolder: boolean): Refusal[] {
    const { provisioning, pending } = description.metadata;
    const refusals: Refusal[] = [];
    if (provisioning !== undefined)
      refusals.push(refuse('BUSY', `${id.name} is still being created.`, 'Wait until its disk is ready.'));
    if (!state.isActive)
      refusals.push(
        refuse(
          'WRONG_STATE',
          `${id.name} is not running. Only a running VM can be migrated.`,
          'Start it first, or move it.',
        ),
      );
    if (pending !== undefined || state.reason === 'migrating' || (this.deps.holds.has(id.uuid) && !isHolder))
      refusals.push(busyRefusal(id.name));
    return [...refusals, ...deviceRefusals(description), ...found.refusals];
  }

  /** The first host that fits. One that does not answer is skipped. */
  private async choose(guest: Guest, isRun: boolean): Promise<PreparedMigration> {
    const reasons: string[] = [];
    for (const host of this.deps.others()) {
      try {
        const prepared = await this.fit(guest, host, isRun);
        const [first] = prepared.plan.refusals;
        if (!first) return prepared;
        reasons.push(first.reason);
      } catch (error) {
        if (!DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BACKEND_FORBIDDEN')) throw error;
        reasons.push(`${host.context} can't be reached.`);
      }
    }
    const reason = `No other libvirt context can take ${guest.id.name}: ${reasons.join(' ')}`;
    return failed(guest, [refuse('WRONG_STATE', reason, 'Remove one of these obstacles.')]);
  }

  private async fit(guest: Guest, host: MigrationHost, isRun: boolean): Promise<PreparedMigration> {
    const { self } = this.deps;
    const { id, description, state, found } = guest;
    if (await isSameMachine(self, host)) {
      const reason = `${host.context} is the machine on which ${id.name} already runs.`;
      return failed(guest, [refuse('WRONG_STATE', reason, 'Choose another node.')]);
    }
    const { channel, ...concerns } = await chooseChannel(self, host, id.uuid);
    const refusals: Refusal[] = [
      ...concerns.refusals,
      ...(await this.nameRefusals(guest, host)),
      ...(await hypervisorRefusals(description, self, host)),
      ...(await networkRefusals(description, host)),
      ...(await placementRefusals(description, host)),
    ];
    const warnings = networkWarnings(description, host);
    if (refusals.length > 0) return failed(guest, refusals, host);
    // Whether the storage is shared shows only once both pools are active.
    if (isRun) await host.pool.ensure();
    const isShared = await isSharedPool(self, host);
    const copying = isShared ? { copies: [], refusals: [] } : await findCopies(description, found, self.pool);
    const space = await checkDestinationSpace(host, copying.copies);
    const steps: PlanStep[] = [
      ...copying.copies.map(({ target, name }) => ({
        name: 'volume',
        detail: `Create the volume ${name} on ${host.context} for the disk ${target}.`,
      })),
      {
        name: 'migrate',
        detail: `Copy the memory${isShared ? '' : ' and the disks'} of ${id.name} to ${host.context} while its guest runs, and let it continue there.`,
      },
      {
        name: 'remove',
        detail: `Remove ${id.name} from ${self.context}${isShared ? '' : ', with the copied volumes'}.`,
      },
    ];
    const plan = buildPlan(steps, {
      warnings: [...concerns.warnings, ...warnings, ...space.warnings],
      refusals: [...copying.refusals, ...space.refusals],
    });
    return { id, description, state, host, ...(channel && { channel }), isShared, copies: copying.copies, plan };
  }

  /** libvirt would replace a stopped domain of the same UUID. */
  private async nameRefusals({ id }: Guest, { context, finder }: MigrationHost): Promise<Refusal[]> {
    const taken = (await finder.all()).find(({ uuid, name }) => uuid === id.uuid || name === id.name);
    if (!taken) return [];
    const reason =
      taken.uuid === id.uuid
        ? `${context} already has a domain with the UUID of ${id.name}: ${taken.name}.`
        : `${context} already has a domain named ${id.name}.`;
    return [refuse('ALREADY_EXISTS', reason, `Rename or delete that one, or choose another node.`)];
  }
}

function failed(
  { id, description, state }: Guest,
  refusals: readonly Refusal[],
  host?: MigrationHost,
): PreparedMigration {
  return {
    id,
    description,
    state,
    ...(host && { host }),
    isShared: false,
    copies: [],
    plan: buildPlan([], { refusals }),
  };
}
