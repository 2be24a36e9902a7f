import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import type { MigrationHost } from '../migration/migration-host.js';
import { LibvirtDiagnostics } from './libvirt-diagnostics.js';

export const openDiagnostics = (
  engine: LibvirtEngine,
  { migrationTransport }: Pick<MigrationHost, 'migrationTransport'>,
): LibvirtDiagnostics => new LibvirtDiagnostics({ ...engine, migrationTransport });
