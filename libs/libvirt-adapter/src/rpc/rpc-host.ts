import { DomainError } from '@headgate/domain-contracts';
import { cpusOfMap, placementProcedures, procedures, type Procedure } from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import {
  HostOperations,
  nodeCpusOf,
  nodeUsageOf,
  type DomainKind,
  type NodeCpus,
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

  override async cpus(): Promise<NodeCpus> {
    const args = { needsMap: true, needsOnline: true, flags: 0 };
    const { cpuMap, present } = await this.link.call(placementProcedures.nodeGetCpuMap, args);
    return nodeCpusOf(cpusOfMap(cpuMap), present);
  }

  override async freePages(numaNode: number, pageKib: readonly number[]): Promise<number[]> {
    const args = { pageKib, startCell: numaNode, cellCount: 1, flags: 0 };
    return [...(await this.link.call(placementProcedures.nodeGetFreePages, args)).counts];
  }

  override async devices(): Promise<string[]> {
    const args = { needsResults: true, flags: 0 };
    const { devices } = await this.link.call(placementProcedures.connectListAllNodeDevices, args);
    const documents = await Promise.all(devices.map(({ name }) => this.deviceXml(name)));
    return documents.filter((xml) => xml !== undefined);
  }

  /** @returns undefined if the device was removed meanwhile */
  private async deviceXml(name: string): Promise<string | undefined> {
    try {
      return (await this.link.call(placementProcedures.nodeDeviceGetXmlDesc, { name, flags: 0 })).xml;
    } catch (error) {
      if (DomainError.is(error, 'DEVICE_NOT_FOUND')) return undefined;
      throw error;
    }
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
