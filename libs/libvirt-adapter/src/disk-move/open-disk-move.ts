import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtDiskMove } from './libvirt-disk-move.js';

export const openDiskMove = (engine: LibvirtEngine): LibvirtDiskMove => new LibvirtDiskMove(engine);
