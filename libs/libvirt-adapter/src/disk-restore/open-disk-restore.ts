import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LayerMerger } from '../snapshots/layer-merger.js';
import { LibvirtDiskRestore } from './libvirt-disk-restore.js';

export const openDiskRestore = (engine: LibvirtEngine): LibvirtDiskRestore =>
  new LibvirtDiskRestore({ ...engine, merger: new LayerMerger(engine) });
