import type { DiskIngest } from '@headgate/domain-contracts';
import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtInstantRestore } from './libvirt-instant-restore.js';

/** @param ingest receives the VMs */
export const openInstantRestore = (engine: LibvirtEngine, ingest: DiskIngest): LibvirtInstantRestore =>
  new LibvirtInstantRestore({ ...engine, ingest });
