import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtGuestPorts } from './libvirt-guest-ports.js';

export const openGuestPorts = ({ connection, finder, clock }: LibvirtEngine): LibvirtGuestPorts =>
  new LibvirtGuestPorts({ connection, finder, clock });
