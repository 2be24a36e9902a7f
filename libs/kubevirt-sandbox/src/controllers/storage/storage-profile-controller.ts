import { RESOURCES } from '../../resources.js';
import type { StorageClass } from '../../types/core-kinds.js';
import type { StorageProfile } from '../../types/kubevirt-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { snapshotClassFor } from '../../storage-classes/snapshot-class.js';

/** CDI's knowledge about provisioners: the usable access and volume modes. An unknown one has no property sets. */
const CLAIM_PROPERTIES: Record<string, { accessModes: string[]; volumeMode: string }[]> = {
  'rook-ceph.rbd.csi.ceph.com': [
    { accessModes: ['ReadWriteMany'], volumeMode: 'Block' },
    { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
    { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
  ],
  'rook-ceph.cephfs.csi.ceph.com': [{ accessModes: ['ReadWriteMany'], volumeMode: 'Filesystem' }],
  'rancher.io/local-path': [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' }],
  'driver.longhorn.io': [{ accessModes: ['ReadWriteMany'], volumeMode: 'Block' }],
  'topolvm.io': [
    { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
    { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
  ],
  'hostpath.csi.k8s.io': [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' }],
};

/** Keeps one StorageProfile per storage class. */
export class StorageProfileController extends Controller<StorageClass> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.storageClass, 'storageprofile-controller');
  }

  protected override reconcile(storageClass: StorageClass): void {
    const { name } = storageClass.metadata;
    const snapshotClass = snapshotClassFor(this.context, storageClass);
    const claimPropertySets = CLAIM_PROPERTIES[storageClass.provisioner];
    const status = {
      storageClass: name,
      provisioner: storageClass.provisioner,
      cloneStrategy: snapshotClass ? 'snapshot' : 'copy',
      ...(claimPropertySets ? { claimPropertySets } : {}),
      ...(snapshotClass ? { snapshotClass } : {}),
    };
    const { store } = this.context;
    if (!this.context.find(RESOURCES.storageProfile, undefined, name)) {
      store.create<StorageProfile>(RESOURCES.storageProfile, {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'StorageProfile',
        metadata: { name },
        spec: {},
      });
    }
    store.patch<StorageProfile>(RESOURCES.storageProfile, { name }, (draft) => {
      draft.status = status;
    });
  }

  protected override cleanUp({ name }: { name: string }): void {
    this.context.discard(RESOURCES.storageProfile, { name });
  }
}
