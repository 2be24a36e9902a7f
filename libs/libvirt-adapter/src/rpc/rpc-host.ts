import { procedures, type Procedure } from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import {
  HostOperations,
  nodeUsageOf,
  type DomainKind,
  type NodeInfo,
  type NodeUsage,
} from '../connection/host-operations.js';
import type { RpcLink } from './rpc-link.js';

interface NodeStats {
  readonly values: readonly { readonly field: string; readonly value: number }[];
  readonly count: number;
}

const WHOLE_NODE = -1;

export class RpcHost extends HostOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async hostname(): Promise<string> {
    return (await this.link.call(procedures.connectGetHostname, undefined)).hostname;
  }

  override async version(options?: CallOptions): Promise<string> {
    const [library, { type }, hypervisor] = await Promise.all([
      this.link.call(procedures.connectGetLibVersion, undefined, options),
      this.link.call(procedures.connectGetType, undefined, options),
      this.link.call(procedures.connectGetVersion, undefined, options),
    ]);
    return `libvirt ${versionText(library.version)}, ${type} ${versionText(hypervisor.version)}`;
  }

  override async capabilities(): Promise<string> {
    return (await this.link.call(procedures.connectGetCapabilities, undefined)).xml;
  }

  override async domainCapabilities(kind?: DomainKind, options?: CallOptions): Promise<string> {
    const { arch = null, machine = null, virtType: type = null } = kind ?? {};
    const args = { emulator: null, arch, machine, type, flags: 0 };
    return (await this.link.call(procedures.connectGetDomainCapabilities, args, { ...options, isSlow: true })).xml;
  }

  override async node(): Promise<NodeInfo> {
    const { memoryKib, cpus } = await this.link.call(procedures.nodeGetInfo, undefined);
    return { memoryBytes: memoryKib * 1024, cpus };
  }

  override async usage(): Promise<NodeUsage> {
    const [cpu, memory] = await Promise.all([
      this.nodeStats(procedures.nodeGetCpuStats, (count) => ({ cpu: WHOLE_NODE, count, flags: 0 })),
      this.nodeStats(procedures.nodeGetMemoryStats, (count) => ({ count, cell: WHOLE_NODE, flags: 0 })),
    ]);
    return nodeUsageOf({ ...cpu, ...memory });
  }

  /** libvirt wants to be asked for exactly as many values as it has. */
  private async nodeStats<A>(
    procedure: Procedure<A, NodeStats>,
    args: (count: number) => A,
  ): Promise<Record<string, number>> {
    const { count } = await this.link.call(procedure, args(0));
    const { values } = await this.link.call(procedure, args(count));
    return Object.fromEntries(values.map(({ field, value }) => [field, value]));
  }
}

/** libvirt packs a version as major * 1,000,000 + minor * 1,000 + release. */
const versionText = (version: number): string =>
  [Math.floor(version / 1_000_000), Math.floor(version / 1000) % 1000, version % 1000].join('.');
