import { isKubernetesName, type ErrorCode, type Refusal, type VmSpec } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { CLAIMS, CLUSTER_INSTANCETYPES, CLUSTER_PREFERENCES, NODES, VIRTUAL_MACHINES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import type { NodeObject } from '../migration/migration-target.js';
import { SECRET_LIMIT_BYTES } from './cloud-init.js';
import { sourceReason } from './vm-sources.js';

export interface CreateRefusal extends Refusal {
  readonly code: ErrorCode;
}

export interface CreateChecks {
  readonly refusals: readonly CreateRefusal[];
  /** The node that was asked for. */
  readonly node?: NodeObject;
}

const refusal = (code: ErrorCode, reason: string, remedy: string): CreateRefusal => ({ code, reason, remedy });

/**
 * Everything that can be told before anything is made. KubeVirt itself takes a VM whose instancetype or claim is missing,
 * and fails later where nobody looks.
 */
export async function checkCreate(api: KubeApi, facts: ClusterFacts, spec: VmSpec): Promise<CreateChecks> {
  const { ref, source, instancetype, preference, node: nodeName } = spec;
  const { namespace, name } = ref;
  const [vm, type, liking, node, claim] = await Promise.all([
    facts.hasKubevirt ? api.find(VIRTUAL_MACHINES, { namespace, name }) : undefined,
    instancetype === undefined ? undefined : api.find(CLUSTER_INSTANCETYPES, { name: instancetype }),
    preference === undefined ? undefined : api.find(CLUSTER_PREFERENCES, { name: preference }),
    nodeName === undefined ? undefined : api.find<NodeObject>(NODES, { name: nodeName }),
    source.kind === 'pvc' ? api.find(CLAIMS, { namespace, name: source.claim }) : undefined,
  ]);
  const refusals: CreateRefusal[] = [];
  const lacking = sourceReason(source.kind, facts);
  if (lacking !== undefined) refusals.push(refusal('NOT_SUPPORTED', lacking, 'Choose another source.'));
  if (!isKubernetesName(name)) {
    refusals.push(
      refusal('INVALID_NAME', `name must end in a letter or a digit; "${name}" does not.`, 'Choose another name.'),
    );
  }
  if (vm) {
    refusals.push(refusal('ALREADY_EXISTS', `There is a VM ${name} in ${namespace} already.`, 'Choose another name.'));
  }
  if (instancetype !== undefined && !type) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `instancetype ${instancetype} is not known to ${ref.context}.`,
        'Choose one of its instancetypes.',
      ),
    );
  }
  if (preference !== undefined && !liking) {
    refusals.push(
      refusal(
        'INVALID_INPUT',
        `preference ${preference} is not known to ${ref.context}.`,
        'Choose one of its preferences.',
      ),
    );
  }
  if (nodeName !== undefined && !node) {
    refusals.push(
      refusal('NODE_NOT_FOUND', `There is no node ${nodeName} in ${ref.context}.`, 'Leave node out, or name another.'),
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
  if (source.kind === 'image' && source.entry.containerDisk === '') {
    refusals.push(
      refusal('NOT_SUPPORTED', `The image ${source.entry.name} is not made for a cluster.`, 'Choose another image.'),
    );
  }
  if (spec.cloudInit !== undefined && Buffer.byteLength(spec.cloudInit) > SECRET_LIMIT_BYTES) {
    refusals.push(
      refusal('INVALID_INPUT', 'cloudInit is larger than the 1 MiB that a Secret can hold.', 'Let it fetch the rest.'),
    );
  }
  return node ? { refusals, node } : { refusals };
}
