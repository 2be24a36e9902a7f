import type { Virsh } from '../virsh/virsh.js';
import { archOf } from '../cluster/libvirt-cluster.js';
import { isRemote } from '../consoles/ssh-forward.js';

/** `kvm`: the processor runs the guest. `tcg`: QEMU emulates it in software. */
export type Accelerator = 'kvm' | 'tcg';

/** What the machine can do for a new VM. */
export interface Host {
  readonly name: string;
  readonly arch: string;
  readonly memoryBytes: number;
  readonly accelerator: Accelerator;
  /** libvirt's network for new VMs, when it is there and active. */
  readonly network?: string;
  readonly isRemote: boolean;
}

/** The network that libvirt's packages define. */
export const DEFAULT_NETWORK = 'default';

export async function describeHost(virsh: Virsh, accelerator: () => Promise<Accelerator>): Promise<Host> {
  const [name, info, capabilities, networks, fastest] = await Promise.all([
    virsh.run(['hostname']),
    virsh.run(['nodeinfo']),
    virsh.run(['capabilities']),
    virsh.run(['net-list', '--name']),
    accelerator(),
  ]);
  const hasNetwork = networks.split('\n').some((line) => line.trim() === DEFAULT_NETWORK);
  return {
    name: name.trim(),
    arch: archOf(capabilities),
    memoryBytes: Number(/^Memory size:\s+(\d+) KiB$/m.exec(info)?.[1] ?? 0) * 1024,
    accelerator: fastest,
    ...(hasNetwork && { network: DEFAULT_NETWORK }),
    isRemote: isRemote(virsh.uri),
  };
}

/** What libvirt claims, where nobody has tried it out. */
export const claimedAccelerator = (virsh: Virsh) => async (): Promise<Accelerator> => {
  const domains = await virsh.run(['capabilities']);
  return /<domain type=['"]kvm['"]/.test(domains) ? 'kvm' : 'tcg';
};
