import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtDiskFiles } from './libvirt-disk-files.js';

/** @param readerGuest the folder with its kernel and its RAM disk; absent where there is none */
export const openDiskFiles = (engine: LibvirtEngine, readerGuest: string | undefined): LibvirtDiskFiles =>
  new LibvirtDiskFiles({ ...engine, ...(readerGuest !== undefined && { readerGuest }) });
