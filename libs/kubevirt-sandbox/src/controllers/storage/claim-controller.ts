import type { ObjectKey } from '@headgate/kube-sandbox';
import { binaryQuantity, GIB, quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import { findCondition, removeCondition, setCondition } from '../../types/condition.js';
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { isPopulated, PVC_PROTECTION, SELECTED_NODE } from './claim-markers.js';

const BINDER = { component: 'persistentvolume-controller' };

/** Provisions, expands and protects claims. */
export class ClaimController extends Controller<PersistentVolumeClaim> {
  private readonly unbound = new Map<string, ObjectKey>();

  constructor(context: SimulationContext) {
    super(context, RESOURCES.claim, 'external-provisioner');
  }

  protected override watchRelated(): void {
    this.watch(RESOURCES.storageClass, () => {
      for (const key of this.unbound.values()) this.enqueue(key);
    });
    this.watch<Pod>(RESOURCES.pod, ({ object }) => {
      for (const { persistentVolumeClaim } of object.spec.volumes ?? []) {
        if (persistentVolumeClaim)
          this.enqueue({ namespace: object.metadata.namespace, name: persistentVolumeClaim.claimName });
      }
    });
  }

  protected override reconcile(claim: PersistentVolumeClaim): void {
    if (claim.metadata.deletionTimestamp) return this.release(claim);
    if (!claim.metadata.finalizers?.includes(PVC_PROTECTION)) {
      this.change(claim, (draft) => {
        draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), PVC_PROTECTION];
        draft.status = { phase: 'Pending', ...draft.status };
      });
      return;
    }
    if (claim.status?.phase === 'Bound') return this.expand(claim);
    if (!isPopulated(claim)) this.provision(claim);
  }

  /** A claim in use is kept until its last pod is gone. */
  private release(claim: PersistentVolumeClaim): void {
    // Only CDI's pods belong to a claim: they end with it.
    for (const pod of this.context.store.ownedBy<Pod>(RESOURCES.pod, claim.metadata.uid!))
      this.context.discard(RESOURCES.pod, pod.metadata, 0);
    if (this.context.consumers.of(claim).length > 0) return;
    this.change(claim, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== PVC_PROTECTION);
    });
    const { volumeName } = claim.spec;
    const volume = volumeName && this.context.find<PersistentVolume>(RESOURCES.volume, undefined, volumeName);
    // A populator may have given the volume to another claim.
    if (volume && (volume.spec['claimRef'] as { uid?: string }).uid === claim.metadata.uid)
      this.context.discard(RESOURCES.volume, { name: volumeName });
  }

  private provision(claim: PersistentVolumeClaim): void {
    const { storageClassName } = claim.spec;
    this.unbound.set(claim.metadata.uid!, claim.metadata);
    if (!storageClassName) {
      const message = 'no persistent volumes available for this claim and no storage class is set';
      if (this.first(claim, 'no class')) this.recordEvent(claim, 'FailedBinding', message, BINDER);
      return;
    }
    const storageClass = this.context.find<StorageClass>(RESOURCES.storageClass, undefined, storageClassName);
    if (!storageClass) {
      const message = `storageclass.storage.k8s.io "${storageClassName}" not found`;
      if (this.first(claim, 'missing class'))
        this.recordEvent(claim, 'ProvisioningFailed', message, { ...BINDER, warning: true });
      return;
    }
    const waits = storageClass.volumeBindingMode === 'WaitForFirstConsumer';
    if (waits && !claim.metadata.annotations?.[SELECTED_NODE]) {
      const message = 'waiting for first consumer to be created before binding';
      if (this.first(claim, 'waiting')) this.recordEvent(claim, 'WaitForFirstConsumer', message, BINDER);
      return;
    }
    if (this.took(claim, 'bind', 'pvcBind')) this.bind(claim, storageClass);
  }

  private bind(claim: PersistentVolumeClaim, storageClass: StorageClass): void {
    const { namespace, name, uid } = claim.metadata;
    const volumeName = `pvc-${uid}`;
    const storage = claim.spec.resources?.requests?.storage ?? binaryQuantity(GIB);
    this.unbound.delete(uid!);
    if (!this.context.find(RESOURCES.volume, undefined, volumeName)) {
      this.context.store.create<PersistentVolume>(
        RESOURCES.volume,
        persistentVolume(claim, storageClass, volumeName, storage),
      );
    }
    this.recordEvent(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${volumeName}`);
    this.context.store.patch<PersistentVolumeClaim>(RESOURCES.claim, { namespace, name }, (draft) => {
      draft.spec.volumeName = volumeName;
      draft.metadata.annotations = {
        ...draft.metadata.annotations,
        'pv.kubernetes.io/bind-completed': 'yes',
        'pv.kubernetes.io/bound-by-controller': 'yes',
        'volume.kubernetes.io/storage-provisioner': storageClass.provisioner,
      };
      draft.status = { ...draft.status, phase: 'Bound', accessModes: draft.spec.accessModes, capacity: { storage } };
    });
  }

  /** The volume grows first, then, once a pod has mounted it, its file system. */
  private expand(claim: PersistentVolumeClaim): void {
    const wanted = claim.spec.resources?.requests?.storage;
    if (!wanted || quantityValue(wanted) <= quantityValue(claim.status?.capacity?.storage ?? wanted)) return;
    const conditions = claim.status?.conditions;
    const waitsForPod = findCondition(conditions, 'FileSystemResizePending') !== undefined;
    if (!waitsForPod && !findCondition(conditions, 'Resizing'))
      return this.note(claim, 'Resizing', 'ControllerResizeInProgress');
    if (!waitsForPod) {
      if (!this.took(claim, `resize to ${wanted}`, 'pvcExpand')) return;
      if (claim.spec.volumeMode !== 'Block') return this.note(claim, 'FileSystemResizePending', 'NodeResizePending');
    } else if (this.context.consumers.of(claim).length === 0 || !this.took(claim, `grow to ${wanted}`, 'pvcExpand'))
      return;
    this.recordEvent(claim, 'FileSystemResizeSuccessful', 'MountVolume.NodeExpandVolume succeeded', {
      component: 'kubelet',
    });
    this.change(claim, (draft) => {
      const status = draft.status!;
      status.capacity = { storage: wanted };
      for (const type of ['Resizing', 'FileSystemResizePending']) removeCondition(status.conditions ?? [], type);
      if (status.conditions?.length === 0) delete status.conditions;
      delete status.allocatedResourceStatuses;
    });
  }

  private note(claim: PersistentVolumeClaim, type: string, progress: string): void {
    this.change(claim, (draft) => {
      const status = draft.status!;
      const conditions = (status.conditions ??= []);
      if (type === 'FileSystemResizePending') removeCondition(conditions, 'Resizing');
      const message =
        type === 'Resizing'
          ? ''
          : 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
      setCondition(
        conditions,
        { type, status: 'True', ...(message ? { message } : {}) },
        this.context.clock.timestamp(),
      );
      status.allocatedResources = { storage: claim.spec.resources!.requests!.storage! };
      status.allocatedResourceStatuses = { storage: progress };
    });
  }

  protected override cleanUp({ namespace, name }: ObjectKey): void {
    for (const [uid, key] of this.unbound) {
      if (key.namespace === namespace && key.name === name) this.unbound.delete(uid);
    }
  }
}

function persistentVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  name: string,
  storage: string,
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
    spec: {
      accessModes: claim.spec.accessModes,
      capacity: { storage },
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: claim.metadata.namespace,
        name: claim.metadata.name,
        uid: claim.metadata.uid,
      },
      csi: { driver: storageClass.provisioner, volumeHandle: name },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
    },
    status: { phase: 'Bound' },
  };
}
