import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtGuestControl } from './libvirt-guest-control.js';
import { LibvirtGuestInspection } from './libvirt-guest-inspection.js';

export const openGuestInspection = ({ connection, finder }: LibvirtEngine): LibvirtGuestInspection =>
  new LibvirtGuestInspection(connection, finder);

export const openGuestControl = ({ connection, finder, clock }: LibvirtEngine): LibvirtGuestControl =>
  new LibvirtGuestControl(connection, finder, clock);
