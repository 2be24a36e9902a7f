import type { KubeObject } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import { findCondition } from '../../types/condition.js';
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../types/core-kinds.js';
import type { DataVolume, DataVolumeSource } from '../../types/data-volume.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { BIND_IMMEDIATELY, CDI_GROUP, SELECTED_NODE } from './claim-markers.js';

const USE_POPULATOR = 'cdi.kubevirt.io/storage.usePopulator';
const CDI_LABELS = { app: 'containerized-data-importer' };

type TransferKind = 'Import' | 'Clone' | 'Upload';

export const transferKind = ({ upload, pvc, snapshot }: DataVolumeSource): TransferKind =>
  upload ? 'Upload' : pvc || snapshot ? 'Clone' : 'Import';

/** Whether CDI fills the claims of a class with a volume populator: it does so when the class has a CSI driver. */
export function usesPopulator(context: SimulationContext, dataVolume: DataVolume, className?: string): boolean {
  const forced = dataVolume.metadata.annotations?.[USE_POPULATOR];
  if (forced === 'true' || forced === 'false') return forced === 'true';
  const storageClass = className && context.find<StorageClass>(RESOURCES.storageClass, undefined, className);
  return Boolean(storageClass && context.find(RESOURCES.csiDriver, undefined, storageClass.provisioner));
}

/** The object that a claim names as its data source. */
export function populationSource(dataVolume: DataVolume, source: DataVolumeSource): KubeObject & { spec: object } {
  const kind = `Volume${transferKind(source)}Source`;
  const { uid, namespace } = dataVolume.metadata;
  const { contentType = 'kubevirt', preallocation } = dataVolume.spec;
  const origin = source.pvc
    ? { source: { kind: 'PersistentVolumeClaim', name: source.pvc.name } }
    : source.snapshot
      ? { source: { kind: 'VolumeSnapshot', name: source.snapshot.name } }
      : { contentType, ...(source.upload ? {} : { source }) };
  return {
    apiVersion: `${CDI_GROUP}/v1beta1`,
    kind,
    metadata: {
      name: `volume-${transferKind(source).toLowerCase()}-source-${uid}`,
      namespace,
      ownerReferences: [controlledBy(dataVolume)],
    },
    spec: { ...origin, ...(preallocation === undefined ? {} : { preallocation }) },
  };
}

/** The state of the pod that fills a volume. */
export interface WorkerState {
  running: boolean;
  reason?: string;
  message?: string;
}

/**
 * Fills the claim of a DataVolume through a second claim, whose volume it takes over at the end: the claim of the
 * DataVolume is Pending until then.
 */
export class Population {
  private readonly kind: TransferKind;

  constructor(
    private readonly context: SimulationContext,
    private readonly target: PersistentVolumeClaim,
    source: DataVolumeSource,
  ) {
    this.kind = transferKind(source);
  }

  /** Whether the claim waits for the scheduler to choose a node for its first consumer. */
  get waitsForConsumer(): boolean {
    const { annotations = {} } = this.target.metadata;
    const { storageClassName = '' } = this.target.spec;
    const storageClass = this.context.find<StorageClass>(RESOURCES.storageClass, undefined, storageClassName);
    return (
      storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
      annotations[SELECTED_NODE] === undefined &&
      annotations[BIND_IMMEDIATELY] === undefined
    );
  }

  /** Creates the second claim and the pod that fills it, where they are missing, and returns the state of the pod. */
  work(): WorkerState {
    const prime = this.prime ?? this.createPrime();
    // A clone is copied by the storage, without a pod.
    if (this.kind === 'Clone') return { running: prime.status?.phase === 'Bound' };
    const pod = this.pod ?? this.context.store.create<Pod>(RESOURCES.pod, this.worker(prime));
    if (pod.status?.phase === 'Running') return { running: true };
    const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
    if (scheduled?.status === 'False') return { running: false, reason: scheduled.reason, message: scheduled.message };
    const waiting = pod.status?.containerStatuses?.[0]?.state.waiting;
    return { running: false, reason: waiting?.reason ?? 'ContainerCreating', message: waiting?.message };
  }

  /** Moves the filled volume to the claim of the DataVolume, and removes the objects that filled it. */
  complete(): void {
    const { context, target, prime, pod } = this;
    const volumeName = prime?.spec.volumeName;
    if (!prime || !volumeName) return;
    const { namespace, name, uid } = target.metadata;
    context.store.patch<PersistentVolume>(RESOURCES.volume, { name: volumeName }, ({ spec }) => {
      spec['claimRef'] = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    });
    context.store.patch<PersistentVolumeClaim>(RESOURCES.claim, target.metadata, (draft) => {
      draft.spec.volumeName = volumeName;
      draft.metadata.annotations = {
        ...draft.metadata.annotations,
        'pv.kubernetes.io/bind-completed': 'yes',
        'cdi.kubevirt.io/storage.populator.progress': '100.0%',
      };
      draft.status = { ...prime.status, phase: 'Bound' };
    });
    if (pod) context.discard(RESOURCES.pod, pod.metadata, 0);
    context.discard(RESOURCES.claim, prime.metadata);
    const source = target.spec.dataSourceRef!;
    context.discard(populatorResource(source.kind), { namespace, name: source.name });
  }

  private get prime(): PersistentVolumeClaim | undefined {
    return this.context.find<PersistentVolumeClaim>(RESOURCES.claim, this.target.metadata.namespace, this.primeName);
  }

  private get pod(): Pod | undefined {
    return this.context.find<Pod>(RESOURCES.pod, this.target.metadata.namespace, this.podName);
  }

  private get primeName(): string {
    return `${this.kind === 'Clone' ? 'tmp-pvc' : 'prime'}-${this.target.metadata.uid}`;
  }

  private get podName(): string {
    return `${this.kind === 'Upload' ? 'cdi-upload' : 'importer'}-${this.primeName}`;
  }

  private createPrime(): PersistentVolumeClaim {
    const { metadata, spec } = this.target;
    const { dataSource: _source, dataSourceRef, ...request } = spec;
    const node = metadata.annotations?.[SELECTED_NODE] ?? this.anyNode();
    const prime = this.context.store.create<PersistentVolumeClaim>(RESOURCES.claim, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: this.primeName,
        namespace: metadata.namespace,
        labels: { ...CDI_LABELS },
        annotations: {
          'cdi.kubevirt.io/storage.populator.kind': dataSourceRef!.kind,
          'cdi.kubevirt.io/storage.contentType': 'kubevirt',
          [BIND_IMMEDIATELY]: '',
          [SELECTED_NODE]: node,
        },
        ownerReferences: [controlledBy(this.target)],
      },
      spec: request,
      status: { phase: 'Pending' },
    });
    this.context.events.record(this.target, {
      type: 'Normal',
      reason: 'CreatedPVCPrimeSuccessfully',
      message: 'PVC Prime created successfully',
      component: 'import-populator',
    });
    return prime;
  }

  private anyNode(): string {
    return this.context.store.list(RESOURCES.node)[0]?.metadata.name ?? 'node';
  }

  private worker(prime: PersistentVolumeClaim): Pod {
    const upload = this.kind === 'Upload';
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: this.podName,
        namespace: prime.metadata.namespace,
        labels: { ...CDI_LABELS, 'cdi.kubevirt.io': upload ? 'cdi-upload-server' : 'importer' },
        ownerReferences: [controlledBy(prime)],
      },
      spec: {
        restartPolicy: 'OnFailure',
        containers: [
          {
            name: upload ? 'cdi-upload-server' : 'importer',
            image: `registry.example.org/kubevirt/cdi-${upload ? 'uploadserver' : 'importer'}:${this.context.release.cdiTag}`,
            resources: { requests: { cpu: '100m', memory: '60M' }, limits: { cpu: '750m', memory: '600M' } },
          },
        ],
        volumes: [{ name: 'cdi-data-vol', persistentVolumeClaim: { claimName: prime.metadata.name } }],
      },
    };
  }
}

const populatorResource = (kind: string): string => `${kind.toLowerCase()}s.${CDI_GROUP}`;
