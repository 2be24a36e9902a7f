import { HostResources, type HostDevice, type HostTopology } from '@headgate/domain-contracts';
import { HostDevices, type HostDevicesDeps } from './host-devices.js';
import { readHostTopology } from './host-topology.js';

/** The resources of the one host of a libvirt connection. */
export class LibvirtHostResources extends HostResources {
  constructor(private readonly deps: HostDevicesDeps) {
    super();
  }

  override async topology(): Promise<readonly HostTopology[]> {
    return [await readHostTopology(this.deps.connection)];
  }

  override async devices(): Promise<readonly HostDevice[]> {
    return (await HostDevices.read(this.deps)).present();
  }
}
