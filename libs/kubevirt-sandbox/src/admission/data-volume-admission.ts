import { type AdmissionRequest, deepEqual, denied } from '@headgate/kube-sandbox';
import { MIB, quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume, DataVolumeSource } from '../types/data-volume.js';
import type { SimulationContext } from '../simulation-context.js';

const VALIDATOR = 'datavolume-validate.cdi.kubevirt.io';
const SCHEMES = ['http:', 'https:'];

/** CDI refuses with 422, no reason and a doubled blank. */
const refuse = (message: string) => denied(VALIDATOR, { message: ` ${message}`, code: 422 });

/** Validates DataVolumes. */
export function admitDataVolumes(context: SimulationContext): void {
  context.admission.addValidating<DataVolume>({
    name: VALIDATOR,
    resources: [RESOURCES.dataVolume],
    operations: ['CREATE', 'UPDATE'],
    admit: (request) => {
      if (request.oldObject) {
        if (!deepEqual(request.object.spec, request.oldObject.spec)) throw refuse('Cannot update DataVolume Spec');
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
): string | undefined {
  const { pvc, storage, source, sourceRef } = object.spec;
  if (name.length > 253) return 'Name cannot be longer than 253 characters';
  if (!pvc && !storage) return 'Missing Data volume PVC';
  if (pvc && storage) return 'Duplicate storage definition, both target storage and target pvc defined';
  const request = pvc ?? storage!;
  const populated = request.dataSource ?? request.dataSourceRef;
  const sources = Object.keys(source ?? {});
  if (!populated && Boolean(source) === Boolean(sourceRef)) {
    return 'Data volume should have either Source or SourceRef, or be externally populated';
  }
  if (source && sources.length === 0) return 'Missing Data volume source';
  if (sources.length > 1) return 'Multiple Data volume sources';
  return (source && sourceProblem(source)) ?? sizeProblem(object) ?? existingClaim(context, object, namespace);
}

function sourceProblem({ http, s3, gcs, registry }: DataVolumeSource): string | undefined {
  const remote = http ?? s3 ?? gcs;
  if (remote) {
    if (!remote.url) return 'spec.source source URL is empty';
    const scheme = schemeOf(remote.url);
    if (http && !SCHEMES.includes(scheme)) return `spec.source Invalid source URL scheme: ${remote.url}`;
  }
  if (registry?.url && !/^(docker|oci-archive):\/\//.test(registry.url)) return 'Illegal registry source URL scheme';
  return undefined;
}

function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function sizeProblem({ spec }: DataVolume): string | undefined {
  const word = spec.pvc ? 'PVC' : 'Storage';
  const size = (spec.pvc ?? spec.storage)?.resources?.requests?.storage;
  const copied =
    spec.source?.pvc ??
    spec.source?.snapshot ??
    spec.sourceRef ??
    spec.storage?.dataSource ??
    spec.storage?.dataSourceRef;
  if (size === undefined) return copied && spec.storage ? undefined : `${word} size is missing`;
  const bytes = quantityValue(size);
  if (bytes <= 0) return `${word} size can't be equal or less than zero`;
  return bytes < MIB ? `${word} size should be at least 1MiB` : undefined;
}

function existingClaim(
  context: SimulationContext,
  { metadata }: DataVolume,
  namespace: string | undefined,
): string | undefined {
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, metadata.name);
  if (!claim) return undefined;
  const populatedFor = claim.metadata.annotations?.['cdi.kubevirt.io/storage.populatedFor'];
  const prepopulated = metadata.annotations?.['cdi.kubevirt.io/storage.prePopulated'];
  if (populatedFor === metadata.name || prepopulated === metadata.name) return undefined;
  return `Destination PVC ${namespace}/${metadata.name} already exists`;
}
