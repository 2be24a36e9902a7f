import { type AdmissionRequest, apiError, deepEqual, type StatusCause } from '@headgate/kube-sandbox';
import { MIB, quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume, DataVolumeSource } from '../types/data-volume.js';
import type { SimulationContext } from '../simulation-context.js';
import { duplicateValue, invalidValue } from './cause.js';

const VALIDATOR = 'datavolume-validate.cdi.kubevirt.io';
const SCHEMES = ['http:', 'https:'];

/** CDI refuses with 422, no reason and a doubled blank. */
const refuse = (cause: StatusCause) =>
  apiError(422, undefined, `admission webhook "${VALIDATOR}" denied the request:  ${cause.message}`, {
    causes: [cause],
  });

/** Validates DataVolumes. */
export function admitDataVolumes(context: SimulationContext): void {
  context.admission.addValidating<DataVolume>({
    name: VALIDATOR,
    resources: [RESOURCES.dataVolume],
    operations: ['CREATE', 'UPDATE'],
    admit: (request) => {
      if (request.oldObject) {
        if (!deepEqual(request.object.spec, request.oldObject.spec)) {
          throw refuse(duplicateValue('DataVolume.Spec', 'Cannot update DataVolume Spec'));
        }
        return;
      }
      const problem = problemOf(context, request);
      if (problem) throw refuse(problem);
    },
  });
}

function problemOf(
  context: SimulationContext,
  { object, namespace, name }: AdmissionRequest<DataVolume>,
): StatusCause | undefined {
  const { pvc, storage, source, sourceRef } = object.spec;
  if (name.length > 253) return invalidValue('', 'Name cannot be longer than 253 characters');
  if (!pvc && !storage) return invalidValue('spec.PVC', 'Missing Data volume PVC');
  if (pvc && storage)
    return invalidValue('spec.PVC.Storage', 'Duplicate storage definition, both target storage and target pvc defined');
  const request = pvc ?? storage!;
  const populated = request.dataSource ?? request.dataSourceRef;
  const sources = Object.keys(source ?? {});
  if (!populated && Boolean(source) === Boolean(sourceRef)) {
    return invalidValue(
      'spec.source',
      'Data volume should have either Source or SourceRef, or be externally populated',
    );
  }
  if (source && sources.length === 0) return invalidValue('spec.source', 'Missing Data volume source');
  if (sources.length > 1) return invalidValue('spec.source', 'Multiple Data volume sources');
  return (source && sourceProblem(source)) ?? sizeProblem(object) ?? existingClaim(context, object, namespace);
}

function sourceProblem({ http, s3, gcs, registry }: DataVolumeSource): StatusCause | undefined {
  const kind = http ? 'HTTP' : s3 ? 'S3' : 'GCS';
  const remote = http ?? s3 ?? gcs;
  if (remote) {
    if (!remote.url) return invalidValue(`spec.source.${kind}.url`, 'spec.source source URL is empty');
    const scheme = schemeOf(remote.url);
    if (http && !SCHEMES.includes(scheme))
      return invalidValue(`spec.source.${kind}.url`, `spec.source Invalid source URL scheme: ${remote.url}`);
  }
  if (registry?.url && !/^(docker|oci-archive):\/\//.test(registry.url)) {
    return invalidValue('spec.source.Registry.URL', `Illegal registry source URL scheme ${registry.url}`);
  }
  return undefined;
}

function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function sizeProblem({ spec }: DataVolume): StatusCause | undefined {
  const word = spec.pvc ? 'PVC' : 'Storage';
  const refused = (why: string): StatusCause =>
    invalidValue(`spec.${word}.resources.requests.size`, `${word} size ${why}`);
  const size = (spec.pvc ?? spec.storage)?.resources?.requests?.storage;
  const copied =
    spec.source?.pvc ??
    spec.source?.snapshot ??
    spec.sourceRef ??
    spec.storage?.dataSource ??
    spec.storage?.dataSourceRef;
  if (size === undefined) return copied && spec.storage ? undefined : refused('is missing');
  const bytes = quantityValue(size);
  if (bytes <= 0) return refused("can't be equal or less than zero");
  return bytes < MIB ? refused('should be at least 1MiB') : undefined;
}

function existingClaim(
  context: SimulationContext,
  { metadata }: DataVolume,
  namespace: string | undefined,
): StatusCause | undefined {
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, metadata.name);
  if (!claim) return undefined;
  const populatedFor = claim.metadata.annotations?.['cdi.kubevirt.io/storage.populatedFor'];
  const prepopulated = metadata.annotations?.['cdi.kubevirt.io/storage.prePopulated'];
  // The claim of a DataVolume of this name: creating it again is a conflict with the DataVolume itself.
  const isOwned = claim.metadata.ownerReferences?.some(
    ({ kind, name, controller }) => controller && kind === 'DataVolume' && name === metadata.name,
  );
  if (isOwned || populatedFor === metadata.name || prepopulated === metadata.name) return undefined;
  return invalidValue('', `Destination PVC ${namespace}/${metadata.name} already exists`);
}
