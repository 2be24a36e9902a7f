import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtBackups } from './libvirt-backups.js';

export const openBackups = (engine: LibvirtEngine): LibvirtBackups => new LibvirtBackups(engine);
