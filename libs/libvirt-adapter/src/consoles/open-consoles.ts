import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtConsoles } from './libvirt-consoles.js';

export const openConsoles = ({ connection, finder }: LibvirtEngine): LibvirtConsoles =>
  new LibvirtConsoles(connection, finder);
