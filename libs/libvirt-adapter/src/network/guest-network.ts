import { DomainError, messageOf } from '@headgate/domain-contracts';
import { attribute, elements, formatXml, type XmlElement } from '../xml/xml.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';

/** The network that libvirt's packages define. It is used if it is active, and never started by the service. */
export const DEFAULT_NETWORK = 'default';
/** The network that the service creates where no other is active. */
export const OWN_NETWORK = 'headgate';
const OWN_BRIDGE = 'headgate0';

/** Subnets for the service's network, in order of preference: libvirt refuses one that the machine already uses. */
const SUBNETS = ['192.168.123', '192.168.213', '10.123.213', '172.30.213'];

/**
 * The virtual network that new VMs are attached to. It is always a network of libvirt: its guests reach the machine
 * through a bridge, so they can't connect to ports on the loopback address. QEMU's user-mode networking is never used,
 * because it connects on behalf of the guest from this machine: 10.0.2.2 is the loopback address there.
 */
export class GuestNetwork {
  private attempt?: Promise<string>;

  constructor(private readonly connection: LibvirtConnection) {}

  /** Name of an active network for VMs; undefined when there is none. */
  async active(): Promise<string | undefined> {
    const names = await this.connection.networks.list('active');
    return [DEFAULT_NETWORK, OWN_NETWORK].find((name) => names.includes(name));
  }

  /**
   * Name of an active network for VMs, which is created if necessary.
   * @throws DomainError when this machine can't run one
   */
  ensure(): Promise<string> {
    // VMs that are created at the same time share one attempt.
    this.attempt ??= this.ensureOnce().finally(() => (this.attempt = undefined));
    return this.attempt;
  }

  private async ensureOnce(): Promise<string> {
    const active = await this.active();
    if (active !== undefined) return active;
    try {
      return await this.start();
    } catch (error) {
      // Another client may have defined or started the network meanwhile.
      const started = await this.active();
      if (started !== undefined) return started;
      throw error;
    }
  }

  private async start(): Promise<string> {
    let isDefined = (await this.connection.networks.list('inactive')).includes(OWN_NETWORK);
    let failure = isDefined ? await this.tryToStart() : undefined;
    if (isDefined && !failure) return OWN_NETWORK;
    if (failure && !isSubnetConflict(failure)) throw failure;
    for (const subnet of SUBNETS) {
      if (isDefined) await this.connection.networks.undefine(OWN_NETWORK);
      await this.connection.networks.define(networkXml(subnet));
      isDefined = true;
      failure = await this.tryToStart();
      if (!failure) return OWN_NETWORK;
      if (!isSubnetConflict(failure)) break;
    }
    throw failure;
  }

  /** @returns the error, or undefined if the network is active afterwards */
  private async tryToStart(): Promise<DomainError | undefined> {
    try {
      await this.connection.networks.start(OWN_NETWORK);
      await this.connection.networks.enableAutostart(OWN_NETWORK);
      return undefined;
    } catch (error) {
      // Another client may have started it meanwhile.
      if ((await this.connection.networks.list('active')).includes(OWN_NETWORK)) return undefined;
      return error instanceof DomainError
        ? error
        : new DomainError('BACKEND_FAILED', messageOf(error), { cause: error });
    }
  }
}

const isSubnetConflict = ({ message }: DomainError): boolean => /already in use by interface/.test(message);

/** https://libvirt.org/formatnetwork.html */
const networkXml = (subnet: string): string =>
  formatXml({
    network: {
      name: OWN_NETWORK,
      forward: { '@mode': 'nat' },
      bridge: { '@name': OWN_BRIDGE, '@stp': 'on', '@delay': '0' },
      ip: {
        '@address': `${subnet}.1`,
        '@netmask': '255.255.255.0',
        dhcp: { range: { '@start': `${subnet}.2`, '@end': `${subnet}.254` } },
      },
    },
  });

/** Whether a domain has a network card whose guest can connect to this machine's loopback address. */
export function hasUserNetworking(domain: { nics: readonly { type: string }[]; document: XmlElement }): boolean {
  if (domain.nics.some(({ type }) => type === 'user')) return true;
  const commandLines = elements(domain.document, 'qemu:commandline');
  const values = commandLines.flatMap((line) => elements(line, 'qemu:arg')).map((arg) => attribute(arg, 'value') ?? '');
  return values.some((value) => /^user(?:,|$)/.test(value) && !/(?:^|,)restrict=(?:on|yes|y)(?:,|$)/.test(value));
}
