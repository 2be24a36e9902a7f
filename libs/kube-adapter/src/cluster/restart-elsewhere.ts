import type { AffectedInstance } from '@headgate/domain-contracts';
import type { ClaimObject, GuestSpec, NodeObject, VmiObject, VmObject } from '../api/object-types.js';
import { isSchedulable } from '../migration/migration-target.js';
import { missingLabels, targetLabels, type Labels } from '../migration/target-labels.js';
import { claimsOf } from './claims-of.js';
import type { StorageClassObject } from './storage-classes.js';

/** Where a guest of a node may run when the node fails. */
export interface RestartContext {
  /** The node that fails. */
  readonly node: string;
  readonly nodes: readonly NodeObject[];
  /** By `namespace/name`. */
  readonly claims: ReadonlyMap<string, ClaimObject>;
  readonly classes: ReadonlyMap<string, StorageClassObject>;
  readonly selectsMachines: boolean;
}

type Restart = Pick<AffectedInstance, 'staysDown' | 'candidates' | 'unchecked'>;

const HOSTNAME = 'kubernetes.io/hostname';
const HOST_MODEL = 'host-model';
/** Taints with this effect repel new guests, unless they tolerate them. */
const REPELLING: readonly string[] = ['NoSchedule', 'NoExecute'];

/** Provisioners whose volumes are on a disk of one node. */
const LOCAL_PROVISIONERS: readonly string[] = [
  'kubernetes.io/no-provisioner',
  'rancher.io/local-path',
  'kubevirt.io.hostpath-provisioner',
  'kubevirt.io/hostpath-provisioner',
  'hostpath.csi.k8s.io',
  'topolvm.io',
  'topolvm.cybozu.com',
  'local.csi.openebs.io',
  'openebs.io/local',
  'zfs.csi.openebs.io',
];

/** Whether KubeVirt starts a VM again on another node, and on which. */
export function restartOf(vm: VmObject, vmi: VmiObject, context: RestartContext): Restart {
  const down = strategyObstacle(vm) ?? localDisk(vmi, context);
  if (down !== undefined) return { staysDown: down, candidates: [], unchecked: [] };
  const others = context.nodes.filter(({ metadata }) => metadata.name !== context.node).filter(isSchedulable);
  const needed = startLabels(vmi, context);
  const fitting = others.filter((node) => missingLabels(node, needed).length === 0 && accepts(node, vmi.spec));
  const candidates = fitting.map(({ metadata }) => metadata.name ?? '').sort();
  if (candidates.length === 0) return { staysDown: noNode(others, needed), candidates, unchecked: [] };
  return { staysDown: '', candidates, unchecked: uncheckedOf(vmi, context) };
}

/** Source: https://kubevirt.io/user-guide/compute/run_strategies/ */
function strategyObstacle({ spec }: VmObject): string | undefined {
  const strategy = spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted');
  if (strategy === 'Always' || strategy === 'RerunOnFailure') return undefined;
  return `Its run strategy ${strategy} does not start it again.`;
}

function localDisk({ metadata, spec = {} }: VmiObject, { claims, classes }: RestartContext): string | undefined {
  const host = spec.volumes?.find(({ hostDisk }) => hostDisk !== undefined);
  if (host) return `Its disk ${host.name} is a file of the node.`;
  for (const name of claimsOf(spec)) {
    const className = localClassOf(claims.get(`${metadata.namespace}/${name}`), classes);
    if (className !== undefined)
      return `Its disk ${name} is on the node: the storage class ${className} has local volumes.`;
  }
  return undefined;
}

/** The storage class of a claim, if its volumes are on a disk of one node. */
export function localClassOf(claim: ClaimObject | undefined, classes: RestartContext['classes']): string | undefined {
  const className = claim?.spec?.storageClassName ?? '';
  const { provisioner = '' } = classes.get(className) ?? {};
  return LOCAL_PROVISIONERS.includes(provisioner) ? className : undefined;
}

/** A restart, unlike a migration, may give the guest another CPU and a newer machine. */
function startLabels(vmi: VmiObject, { nodes, selectsMachines }: RestartContext): Labels {
  const { cpu } = vmi.spec?.domain ?? {};
  const spec: GuestSpec = {
    ...vmi.spec,
    domain: { ...vmi.spec?.domain, ...(cpu?.model === HOST_MODEL && { cpu: { ...cpu, model: undefined } }) },
  };
  const { machine: _running, ...status } = vmi.status ?? {};
  return targetLabels({ vmi: { ...vmi, spec, status }, nodes, launcher: undefined, selectsMachines });
}

/** A guest with tolerations may be accepted: these are not evaluated, and reported as unchecked. */
export const accepts = ({ spec }: NodeObject, guest: Pick<GuestSpec, 'tolerations'> | undefined): boolean =>
  (guest?.tolerations ?? []).length > 0 || !spec?.taints?.some(({ effect }) => REPELLING.includes(effect));

function noNode(others: readonly NodeObject[], needed: Labels): string {
  if (others.length === 0) return 'There is no other schedulable node at the moment.';
  const pin = needed[HOSTNAME];
  if (pin !== undefined) return `It was created for the node ${pin} and may run on no other.`;
  const missing = [...new Set(others.flatMap((node) => missingLabels(node, needed)))];
  return missing.length === 0
    ? 'Taints keep it off all other nodes.'
    : `No other schedulable node has all labels that it needs: ${missing.join(', ')}.`;
}

/** @param isMigrated whether the guest migrates, for which KubeVirt itself demands shared disks */
export function uncheckedOf(
  { metadata, spec = {} }: VmiObject,
  { claims, nodes }: Pick<RestartContext, 'claims' | 'nodes'>,
  isMigrated = false,
): string[] {
  const { domain, affinity, tolerations = [], topologySpreadConstraints = [] } = spec;
  const { gpus = [], hostDevices = [] } = domain?.devices ?? {};
  const hasTaints = nodes.some(({ spec: node }) => (node?.taints ?? []).length > 0);
  const single = claimsOf(spec).filter(
    (name) => !claims.get(`${metadata.namespace}/${name}`)?.spec?.accessModes?.includes('ReadWriteMany'),
  );
  return [
    ...(affinity === undefined ? [] : ['its rules of affinity']),
    ...(topologySpreadConstraints.length === 0 ? [] : ['its rules of topology']),
    ...(tolerations.length > 0 && hasTaints ? ['which taints it tolerates'] : []),
    ...(gpus.length + hostDevices.length === 0 ? [] : ['free devices of the nodes']),
    ...(domain?.memory?.hugepages === undefined ? [] : ['free hugepages']),
    ...(domain?.cpu?.dedicatedCpuPlacement === true ? ['CPUs that are free to be reserved'] : []),
    ...(isMigrated || single.length === 0
      ? []
      : [`whether the storage releases ${single.join(', ')}, which only one node may use at a time`]),
  ];
}
