import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtMetrics } from './libvirt-metrics.js';

export const openMetrics = ({ connection, finder, clock }: LibvirtEngine): LibvirtMetrics =>
  new LibvirtMetrics(connection, finder, clock);
