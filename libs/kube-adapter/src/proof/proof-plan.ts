import {
  buildPlan,
  formatBytes,
  type BootPlan,
  type BootRequest,
  type ErrorCode,
  type PortableVm,
  type Refusal,
  type RunningProofs,
} from '@headgate/domain-contracts';
import { namespaceExists } from '../api/ensure-namespace.js';
import type { KubeApi } from '../api/kube-api.js';
import type { NodeObject } from '../api/object-types.js';
import { NODES, STORAGE_CLASSES } from '../api/resources.js';
import { listIfAllowed } from '../cluster/cluster-scope.js';
import { freeSpaceOf } from '../cluster/describe-storage.js';
import { defaultClass, type StorageClassObject } from '../cluster/storage-classes.js';
import { missingPermissions } from '../diagnostics/missing-permissions.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { PROOF_NEEDS_CDI } from '../discovery/cluster-facts.js';
import type { ImageUploads } from '../images/image-uploads.js';
import { bytesOf } from '../inventory/guest-size.js';
import { isSchedulable } from '../migration/migration-target.js';
import { architectureOf } from '../moves/moved-vm.js';
import { PROOF_RBAC_RULES } from '../rbac.js';

export interface ProofPlanDeps {
  readonly api: KubeApi;
  readonly context: string;
  readonly discovery: ClusterDiscovery;
  readonly uploads: ImageUploads;
  /** Of new instances. */
  readonly defaultNamespace: string;
  /** Chosen by the operator for all proofs. */
  readonly proofNamespace?: string | undefined;
  /** The namespaces that the service watches. Undefined: all. */
  readonly namespaces?: readonly string[] | undefined;
}

/** A plan, with the place that was chosen for it. */
export interface PlannedProof {
  readonly plan: BootPlan;
  readonly namespace: string;
  /** Undefined: the account may not list them, and the cluster chooses its default. */
  readonly storageClass?: string;
}

const MAX_DISKS = 24;

const refusal = (code: ErrorCode, reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** @param running the proofs of this process in the context */
export async function planProof(
  request: BootRequest,
  deps: ProofPlanDeps,
  running: RunningProofs,
): Promise<PlannedProof> {
  const { api, context, discovery } = deps;
  const { id, vm } = request;
  const facts = await discovery.facts();
  const totalBytes = vm.disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const refusals: Refusal[] = [...running.refusals(context, id), ...requestRefusals(request)];
  if (!facts.hasCdi) refusals.push(refusal('NOT_SUPPORTED', PROOF_NEEDS_CDI, 'Install CDI.'));
  else refusals.push(...(await deps.uploads.refusals()));
  const namespace = await namespaceOf(request, deps);
  if ((await namespaceExists(api, namespace)) === false)
    refusals.push(
      refusal('WRONG_STATE', `The namespace ${namespace} for the proof does not exist in ${context}.`, 'Create it.'),
    );
  const missing = await missingPermissions(api, (group) => facts.servesGroup(group) || group === '', {
    rules: PROOF_RBAC_RULES,
    namespace,
  });
  if (missing.length > 0)
    refusals.push(
      refusal(
        'BACKEND_FORBIDDEN',
        `The account of ${context} may not ${missing.join(', ')} in ${namespace}.`,
        'Bind the ClusterRole from deploy/kustomize to the account.',
      ),
    );
  refusals.push(...nodeRefusals(context, vm, await listIfAllowed<NodeObject>(api, NODES)));
  const classes = await listIfAllowed<StorageClassObject>(api, STORAGE_CLASSES);
  const storageClass = classes && defaultClass(classes)?.metadata.name;
  if (classes && storageClass === undefined)
    refusals.push(
      refusal('NOT_SUPPORTED', `${context} has no default storage class for the copies.`, 'Mark one as the default.'),
    );
  if (storageClass !== undefined) refusals.push(...(await spaceRefusals(api, storageClass, vm)));
  const size = formatBytes(totalBytes);
  const place = `${storageClass === undefined ? 'the default storage class' : `the storage class ${storageClass}`}`;
  const steps = [
    { name: 'copy', detail: `Copy all ${size} of the disks into new volumes of ${place}, in ${namespace}.` },
    {
      name: 'boot',
      detail: `Boot the copies in ${context} without a network, as a VM of ${namespace} that is removed afterwards with them.`,
    },
  ];
  const plan: BootPlan = {
    ...buildPlan(steps, { refusals, warnings: warningsOf(vm, { size, namespace }) }),
    readsAll: true,
  };
  return { plan, namespace, ...(storageClass !== undefined && { storageClass }) };
}

function requestRefusals({ vm, command }: BootRequest): Refusal[] {
  const refusals: Refusal[] = [];
  if (command)
    refusals.push(
      refusal(
        'NOT_SUPPORTED',
        'command: KubeVirt runs no programs in guests.',
        'Omit it, so that the agent or a login prompt is the sign, or prove the backup on libvirt.',
      ),
    );
  if (vm.disks.length === 0 || vm.disks.length > MAX_DISKS)
    refusals.push(
      refusal('NOT_SUPPORTED', `The VM has ${vm.disks.length} disks.`, `Proofs boot 1 to ${MAX_DISKS} disks.`),
    );
  return refusals;
}

/**
 * The configured one, or that of the VM, so that its quotas and policies apply, where the service sees it. Otherwise
 * that of new VMs.
 */
async function namespaceOf({ origin }: BootRequest, deps: ProofPlanDeps): Promise<string> {
  const { api, context, namespaces, defaultNamespace, proofNamespace } = deps;
  if (proofNamespace !== undefined) return proofNamespace;
  const isWatched = (name: string): boolean => namespaces?.includes(name) !== false;
  const own = origin?.context === context && isWatched(origin.namespace) ? origin.namespace : undefined;
  if (own !== undefined && (await namespaceExists(api, own)) !== false) return own;
  return isWatched(defaultNamespace) ? defaultNamespace : (namespaces?.[0] ?? defaultNamespace);
}

/** Other pods may use the memory of a node, so the scheduler of the cluster may still refuse the guest. */
function nodeRefusals(context: string, vm: PortableVm, nodes: readonly NodeObject[] | undefined): Refusal[] {
  if (!nodes) return [];
  const architecture = architectureOf(vm);
  const fitting = nodes.filter(
    (node) =>
      isSchedulable(node) &&
      (architecture === '' || (node.status?.nodeInfo?.architecture ?? architecture) === architecture),
  );
  if (vm.arch !== '' && (architecture === '' || fitting.length === 0))
    return [
      refusal(
        'NOT_SUPPORTED',
        `The VM is for ${vm.arch}, and ${context} has no node for its guests.`,
        'Choose another context.',
      ),
    ];
  const largest = Math.max(0, ...fitting.map(({ status }) => bytesOf(status?.allocatable?.['memory']) ?? Infinity));
  if (vm.memoryBytes < largest) return [];
  return [
    refusal(
      'WRONG_STATE',
      `The largest node of ${context} has ${formatBytes(largest)} of memory for pods, and the VM needs ${formatBytes(vm.memoryBytes)}.`,
      'Prove the backup on another context.',
    ),
  ];
}

/** All disks of a VM have to be on one segment, which is a node for local storage. */
async function spaceRefusals(api: KubeApi, storageClass: string, { disks }: PortableVm): Promise<Refusal[]> {
  const segments = await freeSpaceOf(api, storageClass);
  const known = segments.map(({ freeBytes }) => freeBytes).filter((bytes) => bytes !== null);
  const needed = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const most = Math.max(...known);
  if (known.length === 0 || known.length < segments.length || needed <= most) return [];
  const reason = `The copies need ${formatBytes(needed)}, and the storage class ${storageClass} has ${formatBytes(most)} free.`;
  return [refusal('INSUFFICIENT_STORAGE', reason, 'Free some space, or prove the backup on another context.')];
}

const warningsOf = (
  { tpm, firmware }: PortableVm,
  { size, namespace }: { readonly size: string; readonly namespace: string },
): string[] => [
  `All ${size} are copied first, which takes much longer than the boot. Quotas of ${namespace} count the copies and the VM.`,
  ...(tpm ? ['The VM gets a new TPM: a disk that is encrypted for the original one does not open.'] : []),
  ...(firmware === 'bios'
    ? []
    : [
        'The firmware begins with new variables: a guest that needs its own boot entries or keys in them does not boot.',
      ]),
];
