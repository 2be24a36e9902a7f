import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { hostDevicesOf } from '../host-resources/open-host-resources.js';
import { LibvirtHardware } from './libvirt-hardware.js';

/** @param onResized called when a disk of a stopped domain has another size, for which libvirt emits no event */
export const openHardware = (engine: LibvirtEngine, onResized: (domain: DomainId) => void): LibvirtHardware =>
  new LibvirtHardware({ ...engine, ...hostDevicesOf(engine), mark: engine.service, onResized });
