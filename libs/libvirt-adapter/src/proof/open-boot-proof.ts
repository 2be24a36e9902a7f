import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtBootProof } from './libvirt-boot-proof.js';

export const openBootProof = (engine: LibvirtEngine): LibvirtBootProof => new LibvirtBootProof(engine);
