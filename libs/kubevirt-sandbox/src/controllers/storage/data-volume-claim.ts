import type { KubeObject } from '@headgate/kube-sandbox';
import { binaryQuantity, quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { DataSource, DataVolume, DataVolumeSource } from '../../types/data-volume.js';
import type { CdiConfig, StorageProfile, VolumeSnapshot } from '../../types/kubevirt-kinds.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { defaultStorageClass, defaultVirtClass } from '../../storage-classes/default-storage-class.js';
import { populationSource, usesPopulator } from './population.js';

/** The reason why no claim can be created for a DataVolume. */
export class UnusableRequest extends Error {
  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** The source of the content; a DataSource is resolved. */
export function sourceOf(context: SimulationContext, { spec, metadata }: DataVolume): DataVolumeSource | undefined {
  if (spec.source || !spec.sourceRef) return spec.source;
  const { namespace = metadata.namespace, name } = spec.sourceRef;
  return context.find<DataSource>(RESOURCES.dataSource, namespace, name)?.spec.source;
}

/** The part of a volume that its file system may take, from CDI's configuration. */
function filesystemOverhead(context: SimulationContext, className = ''): number {
  const config = context.find<CdiConfig>(RESOURCES.cdiConfig, undefined, 'config')?.status?.filesystemOverhead;
  return Number(config?.storageClass?.[className] ?? config?.global ?? context.release.filesystemOverhead);
}

/** @throws UnusableRequest */
export function claimFor(
  context: SimulationContext,
  dataVolume: DataVolume,
  source: DataVolumeSource,
): PersistentVolumeClaim {
  const { metadata, spec } = dataVolume;
  const request = spec.storage ?? spec.pvc ?? {};
  const fallback = spec.storage ? defaultVirtClass(context) : defaultStorageClass(context);
  const storageClassName = request.storageClassName ?? fallback?.metadata.name;
  const profile = storageClassName
    ? context.find<StorageProfile>(RESOURCES.storageProfile, undefined, storageClassName)
    : undefined;
  const properties = profile?.status?.claimPropertySets?.[0];
  const accessModes = request.accessModes ?? (spec.storage ? properties?.accessModes : undefined);
  if (!storageClassName && spec.storage && !accessModes) {
    throw new UnusableRequest(
      'ErrClaimNotValid',
      'PVC spec is missing accessMode and no storageClass to choose profile',
    );
  }
  if (!accessModes) {
    throw new UnusableRequest(
      'ErrClaimNotValid',
      `no accessMode specified in StorageProfile ${storageClassName ?? ''}`,
    );
  }
  const volumeMode = request.volumeMode ?? (spec.storage ? properties?.volumeMode : undefined) ?? 'Filesystem';
  const bytes = requestedBytes(context, dataVolume);
  const grown =
    spec.storage && volumeMode === 'Filesystem'
      ? Math.ceil(bytes / (1 - filesystemOverhead(context, storageClassName)))
      : bytes;
  const storage = grown === bytes ? (request.resources?.requests?.storage ?? binaryQuantity(bytes)) : String(grown);
  const populator = usesPopulator(context, dataVolume, storageClassName)
    ? dataSourceRef(populationSource(dataVolume, source))
    : undefined;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      labels: {
        app: 'containerized-data-importer',
        'alerts.k8s.io/KubePersistentVolumeFillingUp': 'disabled',
        ...metadata.labels,
      },
      annotations: {
        'cdi.kubevirt.io/storage.contentType': spec.contentType ?? 'kubevirt',
        'cdi.kubevirt.io/storage.deleteAfterCompletion': 'true',
        ...metadata.annotations,
      },
      ownerReferences: [controlledBy(dataVolume)],
    },
    spec: {
      accessModes,
      ...(storageClassName ? { storageClassName } : {}),
      volumeMode,
      resources: { requests: { storage } },
      ...(populator ? { dataSource: populator, dataSourceRef: populator } : {}),
    },
  };
}

const dataSourceRef = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiGroup: apiVersion.split('/')[0],
  kind,
  name: metadata.name,
});

/** The requested size. A copy may omit it and gets the size of its source. */
export function requestedBytes(context: SimulationContext, dataVolume: DataVolume): number {
  const request = dataVolume.spec.storage ?? dataVolume.spec.pvc;
  const asked = quantityValue(request?.resources?.requests?.storage);
  if (asked > 0) return asked;
  const source = sourceOf(context, dataVolume);
  if (source?.pvc) {
    const origin = context.find<PersistentVolumeClaim>(RESOURCES.claim, source.pvc.namespace, source.pvc.name);
    return quantityValue(origin?.status?.capacity?.storage) || 0;
  }
  if (source?.snapshot && !context.without.has('snapshots')) {
    const origin = context.find<VolumeSnapshot>(
      RESOURCES.volumeSnapshot,
      source.snapshot.namespace,
      source.snapshot.name,
    );
    return quantityValue(origin?.status?.restoreSize) || 0;
  }
  return 0;
}
