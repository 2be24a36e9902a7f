import type { LibvirtBackups } from '../backups/libvirt-backups.js';
import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtBackupSource } from './libvirt-backup-source.js';

/** @param backups its exports and the backups exclude each other, and it removes what interrupted ones have left */
export const openBackupSource = (engine: LibvirtEngine, backups: LibvirtBackups): LibvirtBackupSource =>
  new LibvirtBackupSource({ ...engine, backups });
