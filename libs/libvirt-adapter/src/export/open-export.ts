import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtExport } from './libvirt-export.js';

export const openExport = (engine: LibvirtEngine): LibvirtExport => new LibvirtExport(engine);
