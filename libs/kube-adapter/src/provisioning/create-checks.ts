import {
  formatBytes,
  isKubernetesName,
  VM_SOURCES,
  type ErrorCode,
  type Refusal,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { networkRefusals } from '../api/network-refusals.js';
import type { KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, NodeObject, VmObject } from '../api/object-types.js';
import {
  CLAIMS,
  CLUSTER_INSTANCETYPES,
  CLUSTER_PREFERENCES,
  DATA_VOLUMES,
  NODES,
  STORAGE_CLASSES,
  VIRTUAL_MACHINES,
} from '../api/resources.js';
import { NEEDS_CDI, type ClusterFacts } from '../discovery/cluster-facts.js';
import { imageBytes, isImage } from '../images/image-objects.js';
import { nameRefusals } from '../kubevirt-traits.js';
import { LABEL } from '../labels.js';
import { isUrl } from './boot-volumes.js';
import { SECRET_LIMIT_BYTES } from './cloud-init.js';

export interface CreateCheckResult {
  readonly refusals: readonly Refusal[];
  /** The requested node. */
  readonly node?: NodeObject;
}

const refusal = (code: ErrorCode, reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** The reason why a VM can't be created from this source; undefined when it can, or while the facts are unknown. */
function unavailableReason(kind: VmSourceKind, facts: ClusterFacts | undefined): string | undefined {
  if (facts && !facts.hasKubevirt) return 'KubeVirt is not installed in this cluster.';
  if (['import', 'iso', 'bootc'].includes(kind) && facts && !facts.hasCdi) return NEEDS_CDI;
  return undefined;
}

export const vmSources = (facts: ClusterFacts | undefined): Readonly<Record<VmSourceKind, true | string>> =>
  Object.fromEntries(VM_SOURCES.map((kind) => [kind, unavailableReason(kind, facts) ?? true])) as Record<
    VmSourceKind,
    true | string
  >;

/** The instance that uses a claim. A second user would corrupt the disk, or wait forever for the volume. */
export async function claimUser(api: KubeApi, { metadata }: KubeObject): Promise<string | undefined> {
  const { namespace, name, labels } = metadata;
  if (labels?.[LABEL.kind] === 'ct') return `the container ${labels[LABEL.name]}`;
  const vms = await api.list<VmObject>(VIRTUAL_MACHINES, { namespace });
  const user = vms.find(({ spec }) =>
    spec?.template?.spec?.volumes?.some(
      ({ persistentVolumeClaim, dataVolume }) => persistentVolumeClaim?.claimName === name || dataVolume?.name === name,
    ),
  );
  return user && `the VM ${user.metadata.name}`;
}

/**
 * Finds every problem that can be found before anything is created. KubeVirt itself accepts a VM whose instancetype or
 * claim is missing, and fails later, where the user does not see it.
 */
export async function checkCreate(api: KubeApi, facts: ClusterFacts, spec: VmSpec): Promise<CreateCheckResult> {
  const { ref, source } = spec;
  const { namespace, name } = ref;
  const [vm, instancetype, preference, node, claim, network, storage] = await Promise.all([
    facts.hasKubevirt ? api.find(VIRTUAL_MACHINES, { namespace, name }) : undefined,
    spec.instancetype === undefined ? undefined : api.find(CLUSTER_INSTANCETYPES, { name: spec.instancetype }),
    spec.preference === undefined ? undefined : api.find(CLUSTER_PREFERENCES, { name: spec.preference }),
    spec.node === undefined ? undefined : api.find<NodeObject>(NODES, { name: spec.node }),
    source.kind === 'pvc' && isKubernetesName(source.claim)
      ? api.find(CLAIMS, { namespace, name: source.claim })
      : undefined,
    spec.network === undefined ? [] : networkRefusals(api, { namespace, network: spec.network, field: 'network' }),
    storageRefusals(api, facts, spec),
  ]);
  const refusals: Refusal[] = [...nameRefusals(name), ...network, ...storage];
  const needsUrlImport = source.kind === 'image' && (source.entry.imported || isUrl(source.entry.containerDisk));
  const unavailable = unavailableReason(needsUrlImport ? 'import' : source.kind, facts);
  if (unavailable !== undefined) refusals.push(refusal('NOT_SUPPORTED', unavailable, 'Choose another source.'));
  if (vm) {
    refusals.push(
      refusal('ALREADY_EXISTS', `A VM named ${name} already exists in ${namespace}.`, 'Choose another name.'),
    );
  }
  if (spec.instancetype !== undefined && !instancetype) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `instancetype: ${ref.context} has no instancetype ${spec.instancetype}.`,
        'Choose one of its instancetypes.',
      ),
    );
  }
  if (spec.preference !== undefined && !preference) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `preference: ${ref.context} has no preference ${spec.preference}.`,
        'Choose one of its preferences.',
      ),
    );
  }
  if (spec.node !== undefined && !node) {
    refusals.push(
      refusal('NODE_NOT_FOUND', `There is no node ${spec.node} in ${ref.context}.`, 'Omit node, or name another.'),
    );
  }
  if (spec.os !== undefined) {
    refusals.push(
      refusal(
        'NOT_SUPPORTED',
        'os: a cluster chooses the virtual hardware of a guest by its preference.',
        'Omit os, and set preference.',
      ),
    );
  }
  if (spec.autostart === true && !spec.start) {
    refusals.push(
      refusal(
        'NOT_SUPPORTED',
        'autostart: a cluster keeps a VM running from the moment that it is started.',
        'Set start, or omit autostart.',
      ),
    );
  }
  if (source.kind === 'pvc' && !claim) {
    refusals.push(
      refusal(
        'VOLUME_NOT_FOUND',
        `There is no PVC ${source.claim} in ${namespace}.`,
        'Name a claim in the namespace of the VM.',
      ),
    );
  }
  if (source.kind === 'pvc' && claim) {
    const user = await claimUser(api, claim);
    if (user !== undefined) {
      refusals.push(
        refusal('BUSY', `The PVC ${source.claim} is used by ${user}.`, 'Name another claim, or delete its user first.'),
      );
    }
  }
  if (source.kind === 'image' && source.entry.imported && unavailable === undefined) {
    refusals.push(...(await imageRefusals(api, spec, source.entry.name)));
  } else if (source.kind === 'image' && source.entry.containerDisk === '') {
    refusals.push(
      refusal('NOT_SUPPORTED', `The image ${source.entry.name} has no container disk.`, 'Choose another image.'),
    );
  }
  if (spec.cloudInit !== undefined && Buffer.byteLength(spec.cloudInit) > SECRET_LIMIT_BYTES) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        'cloudInit is larger than 1 MiB, the limit of a Secret.',
        'Let the guest download the rest.',
      ),
    );
  }
  return node ? { refusals, node } : { refusals };
}

/** Why the disks of the VM can't be of the requested storage class. CDI itself would let the VM wait forever. */
async function storageRefusals(
  api: KubeApi,
  facts: ClusterFacts,
  { ref, source, storageClass }: VmSpec,
): Promise<Refusal[]> {
  if (storageClass === undefined) return [];
  if (source.kind === 'pvc') {
    const reason = `storageClass: the volume ${source.claim} exists already.`;
    return [refusal('NOT_SUPPORTED', reason, 'Omit storageClass, or choose another source.')];
  }
  if (source.kind === 'containerDisk' || (source.kind === 'image' && !source.entry.imported && !facts.hasCdi)) {
    const reason = 'storageClass: a container disk has no volume.';
    return [refusal('NOT_SUPPORTED', reason, 'Omit storageClass, or choose another source.')];
  }
  if (isKubernetesName(storageClass) && (await api.find(STORAGE_CLASSES, { name: storageClass }))) return [];
  const reason = `storageClass: ${ref.context} has no storage class ${storageClass}.`;
  return [refusal('INVALID_INPUT', reason, 'Omit it, or name one of its storage classes.')];
}

/** Why the disk of the VM can't be a copy of an imported image. CDI itself would let the VM wait forever. */
async function imageRefusals(api: KubeApi, { ref, diskBytes }: VmSpec, name: string): Promise<Refusal[]> {
  const { namespace } = ref;
  const image = isKubernetesName(name)
    ? await api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name })
    : undefined;
  if (!image || !isImage(image) || image.status?.phase !== 'Succeeded') {
    const reason = `There is no imported image ${name} in ${namespace} that is ready.`;
    return [refusal('UNKNOWN_CATALOG_ENTRY', reason, 'Import it first.')];
  }
  const refusals: Refusal[] = [];
  const bytes = imageBytes(image);
  if (bytes > diskBytes) {
    const reason = `disk must be at least ${formatBytes(bytes)}, the size of the image.`;
    refusals.push(refusal('INVALID_QUANTITY', reason, 'Choose a larger disk.'));
  }
  const user = await claimUser(api, image);
  if (user !== undefined) {
    const reason = `The image ${name} is used as a disk by ${user}, so it can't be copied.`;
    refusals.push(refusal('BUSY', reason, 'Choose another image, or delete its user first.'));
  }
  return refusals;
}
