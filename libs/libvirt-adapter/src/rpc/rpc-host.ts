import { procedures } from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import { HostOperations, type DomainKind, type NodeInfo } from '../connection/host-operations.js';
import type { RpcLink } from './rpc-link.js';

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
}

/** libvirt packs a version as major * 1,000,000 + minor * 1,000 + release. */
const versionText = (version: number): string =>
  [Math.floor(version / 1_000_000), Math.floor(version / 1000) % 1000, version % 1000].join('.');
