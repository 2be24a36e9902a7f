import { displayUrl, IMAGE_PHASE, type ImportedImage } from '@headgate/domain-contracts';
import type { DataVolumeObject, VmObject } from '../api/object-types.js';
import { importProblem, progressOf, waitsForFirstStart } from '../data-volumes/data-volume-facts.js';
import { bytesOf } from '../inventory/guest-size.js';
import { ANNOTATION, LABEL } from '../labels.js';

/** The value of `svc.dev/kind` of an imported image. */
export const IMAGE_KIND = 'image';

const WAITS_FOR_FILE =
  'The cluster waits for the file. If no upload is running, delete the image and upload the file again.';

/** Whether a DataVolume is an imported image. One that belongs to a VM never is, even with the label. */
export const isImage = ({ metadata }: DataVolumeObject): boolean =>
  metadata.labels?.[LABEL.kind] === IMAGE_KIND &&
  metadata.labels[LABEL.vm] === undefined &&
  (metadata.ownerReferences ?? []).length === 0;

export const imageBytes = ({ spec }: DataVolumeObject): number =>
  bytesOf((spec?.storage ?? spec?.pvc)?.resources?.requests?.storage) ?? 0;

export function presentImage(context: string, dataVolume: DataVolumeObject): ImportedImage {
  const { namespace = '', name = '', creationTimestamp } = dataVolume.metadata;
  const failure = uploadFailureOf(dataVolume);
  const reason = failure ?? reasonOf(dataVolume);
  return {
    ref: { context, namespace, name },
    bytes: imageBytes(dataVolume),
    phase: phaseOf(dataVolume),
    progress: progressOf(dataVolume),
    source: sourceOf(dataVolume),
    ...(reason !== undefined && { reason }),
    ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
  };
}

function phaseOf(dataVolume: DataVolumeObject): string {
  if (dataVolume.metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (uploadFailureOf(dataVolume) !== undefined) return IMAGE_PHASE.failed;
  return dataVolume.status?.phase || 'Pending';
}

/** Why this service could not send the file of an image. */
const uploadFailureOf = ({ metadata, status }: DataVolumeObject): string | undefined =>
  status?.phase === 'Succeeded' ? undefined : metadata.annotations?.[ANNOTATION.uploadFailure];

function sourceOf({ spec }: DataVolumeObject): string {
  const { http, registry, s3, gcs, pvc, snapshot, upload } = spec?.source ?? {};
  const url = (http ?? registry ?? s3 ?? gcs)?.url;
  if (url !== undefined) return displayUrl(url);
  if (upload !== undefined) return 'upload';
  if (pvc) return `PVC ${pvc.namespace}/${pvc.name}`;
  if (snapshot) return `VolumeSnapshot ${snapshot.namespace}/${snapshot.name}`;
  return Object.keys(spec?.source ?? {})[0] ?? 'DataVolume';
}

function reasonOf(dataVolume: DataVolumeObject): string | undefined {
  if (dataVolume.status?.phase === 'Succeeded') return undefined;
  const problem = importProblem(dataVolume);
  if (problem !== undefined) return `The image can't be imported: ${problem.replace(/\.$/, '')}.`;
  if (waitsForFirstStart(dataVolume)) return 'Its storage waits for the first VM that uses the image.';
  // A service that was killed can't say so.
  return dataVolume.status?.phase === IMAGE_PHASE.uploading ? WAITS_FOR_FILE : undefined;
}

export interface ImageUsers {
  /** The DataVolumes of all namespaces. */
  readonly dataVolumes: readonly DataVolumeObject[];
  /** The VMs in the namespace of the image. */
  readonly vms: readonly VmObject[];
  /** The names of the claims in the namespace of the image. */
  readonly claims: ReadonlySet<string>;
}

/** Who uses the claim of an image: a VM as its disk, or an unfinished copy. A finished copy does not need the image. */
export function userOfImage(
  { metadata: { namespace, name } }: DataVolumeObject,
  { dataVolumes, vms, claims }: ImageUsers,
): string | undefined {
  const isSource = ({ spec }: DataVolumeObject, home: string | undefined): boolean => {
    const pvc = spec?.source?.pvc;
    return pvc?.name === name && (pvc?.namespace ?? home) === namespace;
  };
  const copy = dataVolumes.find((one) => isSource(one, one.metadata.namespace) && one.status?.phase !== 'Succeeded');
  if (copy) return `the DataVolume ${copy.metadata.namespace}/${copy.metadata.name}, which is being copied from it`;
  const present = new Set(
    dataVolumes.filter((one) => one.metadata.namespace === namespace).map((one) => one.metadata.name),
  );
  for (const { metadata, spec } of vms) {
    const uses = spec?.template?.spec?.volumes?.some(
      ({ persistentVolumeClaim, dataVolume }) => (persistentVolumeClaim?.claimName ?? dataVolume?.name) === name,
    );
    if (uses) return `the VM ${metadata.name}, whose disk it is`;
    // A DataVolume without an object was not created yet, or was removed by CDI after its end.
    const isPlanned = spec?.dataVolumeTemplates?.some(
      (template) =>
        isSource(template, namespace) &&
        !present.has(template.metadata.name) &&
        !claims.has(template.metadata.name ?? ''),
    );
    if (isPlanned) return `the VM ${metadata.name}, whose disk will be copied from it`;
  }
  return undefined;
}
