import {
  DomainError,
  InstancePower,
  templateRefusal,
  type InstanceRef,
  type PowerAction,
  type PowerOptions,
} from '@headgate/domain-contracts';
import { describeDomain } from '../domain-xml/domain-description.js';
import { NO_METADATA, type InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import type { DomainState } from '../connection/domain-state.js';
import type { DomainOperations } from '../connection/domain-operations.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { StopRequests } from '../domains/stop-requests.js';
import { startDomain } from '../domains/start-domain.js';

export interface LibvirtPowerDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly stops: StopRequests;
  /** Serializes operations on a domain. */
  readonly lock: KeyedLock;
}

export class LibvirtPower extends InstancePower {
  constructor(private readonly deps: LibvirtPowerDeps) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction, { force = false }: PowerOptions = {}): Promise<void> {
    const domain = await this.deps.finder.find(ref);
    await this.deps.lock.run(domain.uuid, async () => {
      const state = await this.stateOf(domain, action === 'start' || action === 'restart');
      await this[action](domain, state, force);
    });
  }

  override async staysOn(ref: InstanceRef): Promise<boolean> {
    const { uuid, name } = await this.deps.finder.find(ref);
    const domain = await this.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${name} no longer exists.`);
    return domain.state.isActive && !this.deps.stops.isStopping(uuid);
  }

  private async start({ uuid, name }: DomainId, state: DomainState): Promise<void> {
    // The guest still runs, but nothing starts it again.
    if (state.isActive && this.deps.stops.isStopping(uuid))
      throw new DomainError('BUSY', `${name} is being stopped; start it again when that is done.`);
    this.deps.stops.end(uuid);
    if (state.word === 'pmsuspended') await this.domains.wakeUp(uuid);
    else if (state.word === 'crashed') await this.domains.reset(uuid);
    else if (!state.isActive) await startDomain(this.domains, uuid);
  }

  private async stop({ uuid, name }: DomainId, state: DomainState, force: boolean): Promise<void> {
    // A crashed domain that was preserved for inspection still has its QEMU process.
    if (!state.isActive && state.word !== 'crashed') return;
    if (force) {
      await this.domains.destroy(uuid);
      return this.deps.stops.end(uuid);
    }
    if (isFrozen(state)) {
      throw new DomainError(
        'WRONG_STATE',
        `${name} is paused and can't shut down: unpause it first, or force stop it.`,
      );
    }
    await this.domains.shutdown(uuid);
    // Fails harmlessly if the guest has shut down meanwhile.
    this.deps.stops.begin(uuid, () => void this.domains.shutdown(uuid).catch(() => undefined));
  }

  private async restart({ uuid, name }: DomainId, state: DomainState, force: boolean): Promise<void> {
    if (!state.isActive)
      throw new DomainError('WRONG_STATE', `${name} is not running, so it can't be restarted: start it instead.`);
    if (force) {
      await this.domains.destroy(uuid);
      this.deps.stops.end(uuid);
      await startDomain(this.domains, uuid);
      return;
    }
    if (isFrozen(state))
      throw new DomainError('WRONG_STATE', `${name} is paused: unpause it first, or force a restart.`);
    await this.domains.reboot(uuid);
  }

  private async pause({ uuid, name }: DomainId, state: DomainState): Promise<void> {
    if (!state.isActive) throw new DomainError('WRONG_STATE', `${name} is not running, so it can't be paused.`);
    if (!isFrozen(state)) await this.domains.suspend(uuid);
  }

  private async unpause({ uuid, name }: DomainId, state: DomainState): Promise<void> {
    if (!state.isActive)
      throw new DomainError('WRONG_STATE', `${name} is not running, so it can't be unpaused: start it instead.`);
    if (state.word === 'pmsuspended') await this.domains.wakeUp(uuid);
    else if (isFrozen(state)) await this.domains.resume(uuid);
  }

  /** @throws DomainError BUSY while its disk is being filled, WRONG_STATE when that has failed */
  private async stateOf({ uuid, name }: DomainId, willStart: boolean): Promise<DomainState> {
    const domain = await this.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${name} no longer exists.`);
    const { provisioning, failure, pending, isTemplate } = metadataOf(domain.xml);
    if (provisioning !== undefined) {
      throw new DomainError('BUSY', `${name} is still being created: wait until its disk is ready.`);
    }
    if (failure !== undefined) {
      throw new DomainError('WRONG_STATE', `${name} has no disk: ${failure} Delete it, then create it again.`);
    }
    if (!willStart) return domain.state;
    if (isTemplate) throw new DomainError('WRONG_STATE', templateRefusal(name));
    if (pending !== undefined && !RUNS_MEANWHILE.includes(pending.kind) && pending.isCanceled !== true) {
      throw new DomainError('BUSY', `A ${pending.kind} of ${name} is in progress: wait until it has ended.`);
    }
    return domain.state;
  }

  private get domains(): DomainOperations {
    return this.deps.connection.domains;
  }
}

/** Changes of the disks of a VM that may be started. */
const RUNS_MEANWHILE: readonly PendingChange['kind'][] = ['merge', 'backup-restore'];

/** A domain whose XML can't be read was not created by the service, or is ready. */
function metadataOf(xml: string): InstanceMetadata {
  try {
    return describeDomain(xml).metadata;
  } catch {
    return NO_METADATA;
  }
}

const isFrozen = ({ word }: DomainState): boolean => word === 'paused' || word === 'pmsuspended';
