import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtCluster } from './libvirt-cluster.js';

export const openCluster = ({ connection, pool, finder }: LibvirtEngine): LibvirtCluster =>
  new LibvirtCluster(connection, pool, finder);
