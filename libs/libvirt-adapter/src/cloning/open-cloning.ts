import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtCloning } from './libvirt-cloning.js';

export const openCloning = (engine: LibvirtEngine): LibvirtCloning => new LibvirtCloning(engine);
