import { attribute, element, parseXml, text } from '../xml/xml.js';
import type { GuestNetwork } from '../network/guest-network.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { hasEnrolledFirmware } from './firmware-descriptions.js';
import { readHypervisorFeatures, type HypervisorFeatures } from './hypervisor-features.js';

/** `kvm` is hardware acceleration, `tcg` is QEMU's software emulation. */
export type Accelerator = 'kvm' | 'tcg';

/** The properties of the machine that matter to a new VM. */
export interface Host {
  readonly name: string;
  readonly arch: string;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly accelerator: Accelerator;
  readonly features: HypervisorFeatures;
  /** The active libvirt network for new VMs. */
  readonly network?: string;
  readonly isRemote: boolean;
}

export async function describeHost(
  connection: LibvirtConnection,
  network: GuestNetwork,
  accelerator: () => Promise<Accelerator>,
): Promise<Host> {
  const [name, { memoryBytes, cpus }, capabilities, activeNetwork, availableAccelerator] = await Promise.all([
    connection.host.hostname(),
    connection.host.node(),
    connection.host.capabilities(),
    network.active(),
    accelerator(),
  ]);
  const arch = archOf(capabilities);
  const features = await readHypervisorFeatures(connection, { arch, accelerator: availableAccelerator });
  const hasSecureBoot = features.hasSecureBoot && (isRemote(connection.uri) || (await hasEnrolledFirmware(arch)));
  return {
    name,
    arch,
    memoryBytes,
    cpus,
    accelerator: availableAccelerator,
    features: { ...features, hasSecureBoot },
    ...(activeNetwork !== undefined && { network: activeNetwork }),
    isRemote: isRemote(connection.uri),
  };
}

/** The accelerator that libvirt reports, without probing it. */
export const reportedAccelerator = (connection: LibvirtConnection) => async (): Promise<Accelerator> => {
  const capabilities = await connection.host.capabilities();
  return /<domain type=['"]kvm['"]/.test(capabilities) ? 'kvm' : 'tcg';
};

/** Whether the URI connects to libvirt on another machine. */
export function isRemote(uri: string): boolean {
  const match = /^[a-z]+(?:\+([a-z]+))?:\/\/([^/?]*)/.exec(uri);
  return match !== null && match[2] !== '' && match[1] !== 'unix';
}

/** The host's architecture, from the output of `virsh capabilities`. */
export const archOf = (capabilities: string): string => {
  const host = element(element(parseXml(capabilities), 'capabilities'), 'host');
  return text(element(host, 'cpu'), 'arch') ?? attribute(element(host, 'cpu'), 'arch') ?? '';
};
