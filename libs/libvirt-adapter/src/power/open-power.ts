import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtPower } from './libvirt-power.js';

/** Power does not depend on the storage pool, so its lock is the one of this process. */
export const openPower = ({ connection, finder, stops, local }: LibvirtEngine): LibvirtPower =>
  new LibvirtPower({ connection, finder, stops, lock: local });
