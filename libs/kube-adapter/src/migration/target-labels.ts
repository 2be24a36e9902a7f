import type { NodeObject, PodObject, VmiObject } from '../api/object-types.js';

export type Labels = Readonly<Record<string, string>>;

const CPU_MODEL = 'cpu-model.node.kubevirt.io/';
const CPU_FEATURE = 'cpu-feature.node.kubevirt.io/';
const MIGRATABLE_MODEL = 'cpu-model-migration.node.kubevirt.io/';
const HOST_MODEL = 'host-model-cpu.node.kubevirt.io/';
const HOST_FEATURE = 'host-model-required-features.node.kubevirt.io/';
const MACHINE_TYPE = 'machine-type.node.kubevirt.io/';
const HOST_MODEL_MODE = 'host-model';
const HOST_PASSTHROUGH = 'host-passthrough';

export interface MigratingGuest {
  readonly vmi: VmiObject;
  readonly nodes: readonly NodeObject[];
  /** The pod that the guest runs in. */
  readonly launcher: PodObject | undefined;
  /** Whether this release of KubeVirt selects nodes by their machine types, even if none has such a label. */
  readonly selectsMachines: boolean;
}

/**
 * The labels that KubeVirt demands of the node that a guest migrates to, besides the vendor of its CPU. Without such a
 * node the migration is accepted, and its target pod waits for one until KubeVirt gives up.
 */
export function targetLabels({ vmi, nodes, launcher, selectsMachines }: MigratingGuest): Labels {
  const { nodeSelector, architecture, domain } = vmi.spec ?? {};
  const machine = vmi.status?.machine?.type || domain?.machine?.type;
  const isSelected = selectsMachines || nodes.some(({ metadata }) => startingWith(metadata.labels, MACHINE_TYPE)[0]);
  const source = nodes.find(({ metadata }) => metadata.name === vmi.status?.nodeName);
  return {
    ...(architecture && { 'kubernetes.io/arch': architecture }),
    ...nodeSelector,
    ...(machine && isSelected && { [MACHINE_TYPE + machine]: 'true' }),
    ...cpuLabels(vmi, source, launcher),
  };
}

function cpuLabels({ spec }: VmiObject, source: NodeObject | undefined, launcher: PodObject | undefined): Labels {
  const { model, features = [] } = spec?.domain?.cpu ?? {};
  if (model === undefined) return {};
  const required = features.filter(({ policy }) => !policy || policy === 'require');
  const own = Object.fromEntries(required.map(({ name }) => [CPU_FEATURE + name, 'true']));
  if (model === HOST_MODEL_MODE) return { ...own, ...hostModel(source, launcher) };
  return model === HOST_PASSTHROUGH ? own : { ...own, [CPU_MODEL + model]: 'true' };
}

/** After a migration the guest still has the CPU of its first host, which its launcher names. */
function hostModel(source: NodeObject | undefined, launcher: PodObject | undefined): Labels {
  const earlier = startingWith(launcher?.spec?.nodeSelector, MIGRATABLE_MODEL, CPU_FEATURE);
  if (earlier.length > 0) return Object.fromEntries(earlier);
  return Object.fromEntries(
    startingWith(source?.metadata.labels, HOST_MODEL, HOST_FEATURE).map(([label, value]) => [
      label.replace(HOST_MODEL, MIGRATABLE_MODEL).replace(HOST_FEATURE, CPU_FEATURE),
      value,
    ]),
  );
}

const startingWith = (labels: Labels | undefined, ...prefixes: readonly string[]): [string, string][] =>
  Object.entries(labels ?? {}).filter(([label]) => prefixes.some((prefix) => label.startsWith(prefix)));

/** The labels that a node lacks, as `label` or, if it is not a switch, `label=value`. */
export const missingLabels = ({ metadata }: NodeObject, needed: Labels): readonly string[] =>
  Object.entries(needed)
    .filter(([label, value]) => metadata.labels?.[label] !== value)
    .map(([label, value]) => (value === 'true' ? label : `${label}=${value}`));

/** How to let a guest migrate despite missing labels. */
export function remedyFor(missing: readonly string[]): string {
  const lacks = (...prefixes: readonly string[]): boolean =>
    missing.some((label) => prefixes.some((prefix) => label.startsWith(prefix)));
  if (lacks(MACHINE_TYPE))
    return 'Choose a node with this machine type, or restart the VM: it then gets the newest one of its node.';
  if (lacks(CPU_MODEL, MIGRATABLE_MODEL, CPU_FEATURE))
    return 'Choose a node with this CPU, or give the VM a CPU model that all its nodes have and restart it.';
  return 'Choose a node with these labels, or change the labels of the node.';
}
