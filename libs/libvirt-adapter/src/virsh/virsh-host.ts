import {
  HostOperations,
  nodeCpusOf,
  nodeUsageOf,
  type DomainKind,
  type NodeCpus,
  type NodeInfo,
  type NodeUsage,
} from '../connection/host-operations.js';
import type { CallOptions } from '../connection/call-options.js';
import { namesOf } from './virsh-networks.js';
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

  override async usage(): Promise<NodeUsage> {
    const [cpu, memory] = await Promise.all([this.virsh.run(['nodecpustats']), this.virsh.run(['nodememstats'])]);
    const { system = 0, ...values } = { ...parseValues(cpu), ...parseValues(memory) };
    return nodeUsageOf({ ...values, kernel: system });
  }

  override async cpus(): Promise<NodeCpus> {
    const text = await this.virsh.run(['nodecpumap']);
    const map = /^CPU map:\s+([y-]+)$/m.exec(text)?.[1] ?? '';
    const online = [...map].flatMap((state, cpu) => (state === 'y' ? [cpu] : []));
    return nodeCpusOf(online, Number(/^CPUs present:\s+(\d+)$/m.exec(text)?.[1] ?? online.length));
  }

  override async freePages(numaNode: number, pageKib: readonly number[]): Promise<number[]> {
    const outputs = await this.virsh.batch(
      pageKib.map((kib) => ['freepages', '--cellno', String(numaNode), '--pagesize', String(kib)]),
    );
    return outputs.map((output) => Number(/KiB:\s+(\d+)/.exec(output)?.[1] ?? 0));
  }

  override async devices(): Promise<string[]> {
    const names = namesOf(await this.virsh.run(['nodedev-list']));
    const documents = await this.virsh.batch(names.map((name) => ['nodedev-dumpxml', name]));
    // Those that disappeared between the commands are empty.
    return documents.filter((xml) => xml.trim() !== '');
  }
}

/** Lines such as `user:   28985930000000` and `free   :   16993916 KiB`. */
const parseValues = (output: string): Record<string, number> =>
  Object.fromEntries([...output.matchAll(/^(\w+) *: *(\d+)/gm)].map(([, name = '', value]) => [name, Number(value)]));

/** `libvirt 9.0.0, QEMU 7.2.22`, from the output of `virsh version`. */
function versionText(output: string): string {
  const libvirt = /Using library: libvirt (\S+)/.exec(output)?.[1];
  const hypervisor = /Running hypervisor: (\S+ \S+)/.exec(output)?.[1];
  return [libvirt && `libvirt ${libvirt}`, hypervisor].filter(Boolean).join(', ');
}
