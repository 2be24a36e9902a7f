import { procedures, type WireNetwork } from '@headgate/libvirt-rpc';
import { NetworkOperations } from '../connection/network-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `virConnectListAllNetworksFlags`. */
const FILTERS = { inactive: 1, active: 2 } as const;

export class RpcNetworks extends NetworkOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async list(state: 'active' | 'inactive'): Promise<string[]> {
    const args = { needResults: true, flags: FILTERS[state] };
    const { networks } = await this.link.call(procedures.connectListAllNetworks, args);
    return networks.map(({ name }) => name);
  }

  override async xml(name: string): Promise<string> {
    return (await this.link.call(procedures.networkGetXmlDesc, { network: await this.find(name), flags: 0 })).xml;
  }

  override async define(xml: string): Promise<void> {
    await this.link.call(procedures.networkDefineXml, { xml });
  }

  override async undefine(name: string): Promise<void> {
    await this.link.call(procedures.networkUndefine, { network: await this.find(name) });
  }

  override async start(name: string): Promise<void> {
    await this.link.call(procedures.networkCreate, { network: await this.find(name) }, { isSlow: true });
  }

  override async enableAutostart(name: string): Promise<void> {
    await this.link.call(procedures.networkSetAutostart, { network: await this.find(name), autostart: true });
  }

  private async find(name: string): Promise<WireNetwork> {
    return (await this.link.call(procedures.networkLookupByName, { name })).network;
  }
}
