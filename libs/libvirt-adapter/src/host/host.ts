import { attribute, element, parseXml, text } from '../domain-xml/xml.js';
import type { GuestNetwork } from '../network/guest-network.js';
import type { Virsh } from '../virsh/virsh.js';

/** `kvm` is hardware acceleration, `tcg` is QEMU's software emulation. */
export type Accelerator = 'kvm' | 'tcg';

/** The properties of the machine that matter to a new VM. */
export interface Host {
  readonly name: string;
  readonly arch: string;
  readonly memoryBytes: number;
  readonly accelerator: Accelerator;
  /** The active libvirt network for new VMs. */
  readonly network?: string;
  readonly isRemote: boolean;
}

export async function describeHost(
  virsh: Virsh,
  network: GuestNetwork,
  accelerator: () => Promise<Accelerator>,
): Promise<Host> {
  const [name, info, capabilities, activeNetwork, availableAccelerator] = await Promise.all([
    virsh.run(['hostname']),
    virsh.run(['nodeinfo']),
    virsh.run(['capabilities']),
    network.active(),
    accelerator(),
  ]);
  return {
    name: name.trim(),
    arch: archOf(capabilities),
    memoryBytes: Number(/^Memory size:\s+(\d+) KiB$/m.exec(info)?.[1] ?? 0) * 1024,
    accelerator: availableAccelerator,
    ...(activeNetwork !== undefined && { network: activeNetwork }),
    isRemote: isRemote(virsh.uri),
  };
}

/** The accelerator that libvirt reports, without probing it. */
export const reportedAccelerator = (virsh: Virsh) => async (): Promise<Accelerator> => {
  const capabilities = await virsh.run(['capabilities']);
  return /<domain type=['"]kvm['"]/.test(capabilities) ? 'kvm' : 'tcg';
};

/** Whether the URI connects to libvirt on another machine. */
export function isRemote(uri: string): boolean {
  const match = /^[a-z]+(?:\+([a-z]+))?:\/\/([^/?]*)/.exec(uri);
  return match !== null && match[2] !== '' && match[1] !== 'unix';
}

/** `libvirt 9.0.0, QEMU 7.2.22`, from the output of `virsh version`. */
export function versionText(output: string): string {
  const libvirt = /Using library: libvirt (\S+)/.exec(output)?.[1];
  const hypervisor = /Running hypervisor: (\S+ \S+)/.exec(output)?.[1];
  return [libvirt && `libvirt ${libvirt}`, hypervisor].filter(Boolean).join(', ');
}

/** The host's architecture, from the output of `virsh capabilities`. */
export const archOf = (capabilities: string): string => {
  const host = element(element(parseXml(capabilities), 'capabilities'), 'host');
  return text(element(host, 'cpu'), 'arch') ?? attribute(element(host, 'cpu'), 'arch') ?? '';
};
