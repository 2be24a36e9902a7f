import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VolumeSnapshot, VolumeSnapshotClass } from '../../types/kubevirt-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';

/** The CSI snapshotter: the snapshot of a bound claim becomes ready after a moment and gets its content. */
export class VolumeSnapshotController extends Controller<VolumeSnapshot> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.volumeSnapshot, 'snapshot-controller');
  }

  protected override watchRelated(): void {
    this.watch<VolumeSnapshot>(RESOURCES.volumeSnapshot, ({ type, object }) => {
      const name = object.status?.boundVolumeSnapshotContentName;
      if (type === 'DELETED' && name) this.context.discard(RESOURCES.volumeSnapshotContent, { name });
    });
    this.watch<PersistentVolumeClaim>(RESOURCES.claim, ({ type, object }) => {
      if (type !== 'ADDED' || this.context.store.count(RESOURCES.volumeSnapshot) === 0) return;
      const waiting = this.context.store.list<VolumeSnapshot>(RESOURCES.volumeSnapshot, {
        namespace: object.metadata.namespace,
        where: ({ spec }) => spec.source.persistentVolumeClaimName === object.metadata.name,
      });
      for (const { metadata } of waiting) this.enqueue(metadata);
    });
  }

  protected override reconcile(snapshot: VolumeSnapshot): void {
    if (snapshot.status?.readyToUse || snapshot.metadata.deletionTimestamp) return;
    const { namespace, name, uid } = snapshot.metadata;
    const claimName = snapshot.spec.source.persistentVolumeClaimName ?? '';
    const claim = this.context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, claimName);
    if (!claim) {
      const message = `Failed to create snapshot content with error persistentvolumeclaim "${claimName}" not found`;
      if (this.first(snapshot, 'missing'))
        this.recordEvent(snapshot, 'SnapshotContentCreationFailed', message, { warning: true });
      return;
    }
    if (!this.took(snapshot, 'cut', this.context.timings.ms('snapshotTime') / 2)) return;
    const contentName = `snapcontent-${uid}`;
    const className = snapshot.spec.volumeSnapshotClassName;
    const snapshotClass =
      className && this.context.find<VolumeSnapshotClass>(RESOURCES.volumeSnapshotClass, undefined, className);
    const content = {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotContent',
      metadata: { name: contentName },
      spec: {
        deletionPolicy: snapshotClass ? snapshotClass.deletionPolicy : 'Delete',
        driver: snapshotClass ? snapshotClass.driver : '',
        source: { volumeHandle: claim.spec.volumeName },
        volumeSnapshotClassName: className,
        volumeSnapshotRef: { kind: 'VolumeSnapshot', namespace, name, uid },
      },
      status: { readyToUse: true },
    };
    if (!this.context.find(RESOURCES.volumeSnapshotContent, undefined, contentName)) {
      this.context.store.create(RESOURCES.volumeSnapshotContent, content);
    }
    this.change(snapshot, (draft) => {
      draft.status = {
        boundVolumeSnapshotContentName: contentName,
        creationTime: this.context.clock.timestamp(),
        readyToUse: true,
        restoreSize: claim.status?.capacity?.storage ?? '0',
      };
    });
  }
}
