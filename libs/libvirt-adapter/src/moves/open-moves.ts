import type { LibvirtBackups } from '../backups/libvirt-backups.js';
import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtDiskIngest } from './libvirt-disk-ingest.js';
import { LibvirtDiskSource } from './libvirt-disk-source.js';
import { LibvirtLiveDisks } from './libvirt-live-disks.js';

export const openDiskSource = (engine: LibvirtEngine): LibvirtDiskSource => new LibvirtDiskSource(engine);

/** @param backups copies the disks */
export const openLiveDisks = (engine: LibvirtEngine, backups: LibvirtBackups): LibvirtLiveDisks =>
  new LibvirtLiveDisks({ ...engine, backups });

export const openDiskIngest = (engine: LibvirtEngine): LibvirtDiskIngest => new LibvirtDiskIngest(engine);
