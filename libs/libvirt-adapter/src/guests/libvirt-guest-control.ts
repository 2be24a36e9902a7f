import {
  GuestControl,
  type Clock,
  type GuestCommand,
  type GuestCommandResult,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { AGENT_CALL_TIMEOUT_MS, obeying, runInGuest } from './run-in-guest.js';

/** Sets passwords and runs programs through the QEMU guest agent. */
export class LibvirtGuestControl extends GuestControl {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async setPassword(ref: InstanceRef, user: string, password: string): Promise<void> {
    const { uuid } = await this.finder.find(ref);
    const { guests } = this.connection;
    await obeying(ref.name, () => guests.setPassword(uuid, user, password, { timeoutMs: AGENT_CALL_TIMEOUT_MS }));
  }

  override async run(ref: InstanceRef, command: GuestCommand): Promise<GuestCommandResult> {
    const { uuid } = await this.finder.find(ref);
    const deps = { guests: this.connection.guests, clock: this.clock };
    return runInGuest(deps, { uuid, name: ref.name }, command);
  }
}
