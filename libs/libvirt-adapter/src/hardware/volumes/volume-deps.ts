import type { Clock } from '@headgate/domain-contracts';
import type { DomainId } from '../../connection/domain-operations.js';
import type { LibvirtConnection } from '../../connection/libvirt-connection.js';
import type { DomainFinder } from '../../domains/domain-finder.js';
import type { DomainEditor } from '../../domains/domain-editor.js';
import type { StoragePool } from '../../storage/storage-pool.js';

export interface VolumeDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly mark: () => string;
  /** Called when a disk of a stopped domain has another size, for which libvirt emits no event. */
  readonly onResized: (domain: DomainId) => void;
  readonly clock: Clock;
}
