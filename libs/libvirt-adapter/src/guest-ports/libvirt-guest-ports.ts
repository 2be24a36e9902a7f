import type { Socket } from 'node:net';
import {
  DomainError,
  GuestPorts,
  type Clock,
  type GuestConnection,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import { connectToGuest, type GuestTarget } from './connect-to-guest.js';
import { leasedAddresses } from './leased-addresses.js';

export interface GuestPortsDeps {
  readonly connection: LibvirtConnection;
  readonly finder: Pick<DomainFinder, 'find'>;
  readonly clock: Clock;
  /** Replaces the connection in tests. */
  readonly open?: (target: GuestTarget) => Promise<Socket>;
}

/**
 * Ports of guests over the virtual networks of this machine. The only addresses are those that libvirt's own DHCP
 * servers have leased to a network card of the guest: a guest, or its agent, could claim any other address, and the
 * service would connect to it for them.
 */
export class LibvirtGuestPorts extends GuestPorts {
  override readonly passesEnd = true;

  constructor(private readonly deps: GuestPortsDeps) {
    super();
  }

  override async connect(ref: InstanceRef, port: number): Promise<GuestConnection> {
    const { connection, finder, clock, open = (target) => connectToGuest(clock, target) } = this.deps;
    if (isRemote(connection.uri))
      throw new DomainError(
        'NOT_SUPPORTED',
        `The ports of ${ref.name} can't be reached: its network is on another machine.`,
      );
    const { uuid } = await finder.find(ref);
    const [address] = await this.addressesOf(uuid, ref.name);
    if (address === undefined)
      throw new DomainError(
        'NOT_SUPPORTED',
        `The ports of ${ref.name} can't be reached: no network of libvirt has leased an address to its network cards.`,
      );
    const socket = await open({ name: ref.name, address, port });
    // Another guest may have got the address while the connection was opened.
    const present = await this.addressesOf(uuid, ref.name).catch((error: unknown) => {
      socket.resetAndDestroy();
      throw error;
    });
    if (present.includes(address)) return Object.assign(socket, { reset: () => void socket.resetAndDestroy() });
    socket.resetAndDestroy();
    throw new DomainError('WRONG_STATE', `The address of ${ref.name} has changed; connect again.`);
  }

  /** Those that are leased now, the ones to prefer first. @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE */
  private async addressesOf(uuid: string, name: string): Promise<string[]> {
    const { connection } = this.deps;
    const domain = await connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${name} no longer exists.`);
    if (domain.state.word !== 'running') {
      const remedy = domain.state.isActive ? 'Resume it' : 'Start it';
      throw new DomainError('WRONG_STATE', `${name} is not running. ${remedy} to connect to its ports.`);
    }
    return leasedAddresses(connection, describeDomain(domain.xml));
  }
}
