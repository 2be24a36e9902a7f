import type { Clock } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../../connection/libvirt-connection.js';
import type { DomainFinder } from '../../domains/domain-finder.js';
import type { DomainEditor } from '../../provisioning/domain-editor.js';
import type { StoragePool } from '../../storage/storage-pool.js';

export interface VolumeDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly mark: () => string;
  readonly clock: Clock;
}
