import { HostOperations, type DomainKind, type NodeInfo } from '../connection/host-operations.js';
import type { CallOptions } from '../connection/call-options.js';
import type { Virsh } from './virsh.js';

export class VirshHost extends HostOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async hostname(): Promise<string> {
    return (await this.virsh.run(['hostname'])).trim();
  }

  override async version(options?: CallOptions): Promise<string> {
    return versionText(await this.virsh.run(['version'], options));
  }

  override capabilities(): Promise<string> {
    return this.virsh.run(['capabilities']);
  }

  override domainCapabilities(kind?: DomainKind, options?: CallOptions): Promise<string> {
    const filters = kind && ['--virttype', kind.virtType, '--arch', kind.arch, '--machine', kind.machine];
    return this.virsh.run(['domcapabilities', ...(filters ?? [])], options);
  }

  override async node(): Promise<NodeInfo> {
    const info = await this.virsh.run(['nodeinfo']);
    return {
      memoryBytes: Number(/^Memory size:\s+(\d+) KiB$/m.exec(info)?.[1] ?? 0) * 1024,
      cpus: Number(/^CPU\(s\):\s+(\d+)$/m.exec(info)?.[1] ?? 0),
    };
  }
}

/** `libvirt 9.0.0, QEMU 7.2.22`, from the output of `virsh version`. */
function versionText(output: string): string {
  const libvirt = /Using library: libvirt (\S+)/.exec(output)?.[1];
  const hypervisor = /Running hypervisor: (\S+ \S+)/.exec(output)?.[1];
  return [libvirt && `libvirt ${libvirt}`, hypervisor].filter(Boolean).join(', ');
}
