import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { defaultInterfaces } from './default-interfaces.js';
import type { HostDevicesDeps } from './host-devices.js';
import { LibvirtHostResources } from './libvirt-host-resources.js';

/** How the devices of the host are found. The interfaces of another machine are not read. */
export const hostDevicesOf = ({ connection, finder, isRemote }: LibvirtEngine): HostDevicesDeps => ({
  connection,
  finder,
  defaultInterfaces: () => (isRemote ? Promise.resolve([]) : defaultInterfaces()),
});

export const openHostResources = (engine: LibvirtEngine): LibvirtHostResources =>
  new LibvirtHostResources(hostDevicesOf(engine));
