import { ABILITY_NAMES, type AbilityName, type DiagnosticCheck } from '@headgate/domain-contracts';
import type { NodeObject } from '../api/object-types.js';
import { NODES } from '../api/resources.js';
import { defaultClass, storageClasses } from '../cluster/storage-classes.js';
import { KubeDiagnostics } from '../diagnostics/kube-diagnostics.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { moveObstacle } from '../disk-move/move-support.js';
import { topologyOf } from '../host-resources/kube-host-resources.js';
import { isSchedulable, vendorsOf } from '../migration/migration-target.js';
import type { SuiteCluster } from './suite-cluster.js';

/** Something that suites need and a cluster, or the command line, does not provide. */
export interface MissingRequirement {
  readonly message: string;
  readonly remedy: string;
  /** The suites that can't run without it; empty: none can. */
  readonly suites: readonly AbilityName[];
}

/** The suites that a cluster can run. */
export interface SuiteSelection {
  readonly checks: readonly DiagnosticCheck[];
  readonly missing: readonly MissingRequirement[];
  /** Whether nothing prevents all suites. */
  readonly isUsable: boolean;
  readonly abilities: readonly AbilityName[];
  readonly canChooseNode: boolean;
  readonly hotplugsNics: boolean;
  /** Whether a node reserves CPUs for single VMs; otherwise the suites only check that this is refused. */
  readonly reservesCpus: boolean;
}

/** Abilities that no cluster has. */
export const NEVER_AVAILABLE: readonly AbilityName[] = [
  'diskBuilds',
  'containerTransfer',
  'guestControl',
  'backups',
  'diskFiles',
  'diskRestore',
  'instantRestore',
  'liveDisks',
];

/** Those without suites on a cluster, which change nothing outside of their namespace. */
export const UNAVAILABLE: readonly AbilityName[] = [...NEVER_AVAILABLE, 'nodeScheduling'];

const DISKS: readonly AbilityName[] = [
  'images',
  'diskMove',
  'diskExport',
  'diskSource',
  'diskIngest',
  'backupSource',
  'bootProof',
];

/** The suites that need what a check of the doctor looks at; empty: all. */
const SUITES_OF_CHECKS: Readonly<Record<string, readonly AbilityName[]>> = {
  api: [],
  discovery: [],
  kubevirt: [],
  'kubevirt-api': [],
  kvm: [],
  rights: [],
  cdi: [...DISKS, 'hardware'],
  multus: ['hardware'],
  metrics: ['metrics'],
  'storage-class': [...DISKS, 'hardware', 'containers', 'containerLogs', 'containerFiles'],
  'storage-expansion': ['hardware'],
  // The suite of proofs reads the disks as a backup does.
  'snapshot-class': ['snapshots', 'backupSource', 'bootProof'],
};

/** Checks whose warning is a lack too. The others only fail with an error. */
const NEEDED_WITHOUT_WARNING: readonly string[] = [
  'cdi',
  'multus',
  'metrics',
  'storage-expansion',
  'snapshot-class',
  'rights',
];

const GATES: readonly (readonly [string, readonly AbilityName[]])[] = [
  ['Snapshot', ['snapshots', 'cloning', 'backupSource', 'bootProof']],
  ['VMExport', ['diskExport', 'diskSource', 'diskIngest', 'backupSource', 'bootProof']],
  ['ExpandDisks', ['hardware']],
];

/** Finds out which suites a cluster can run, and what the others lack. */
export async function selectSuites(cluster: SuiteCluster): Promise<SuiteSelection> {
  const { api, discovery, settings } = cluster;
  const checks = await new KubeDiagnostics(api, discovery, settings.namespace).checks();
  const missing = checks.flatMap(lackOf);
  const isUsable = missing.every(({ suites }) => suites.length > 0);
  const none = { abilities: [], canChooseNode: false, hotplugsNics: false, reservesCpus: false };
  if (!isUsable) return { checks, missing, isUsable, ...none };
  const facts = await discovery.facts();
  const nodes = (await api.list<NodeObject>(NODES)).filter(isSchedulable);
  const migration = migrationLack(nodes);
  missing.push(...gateLacks(facts), ...migration, ...(await settingLacks(cluster, facts)));
  const without = new Set(missing.flatMap(({ suites }) => suites));
  const abilities = ABILITY_NAMES.filter((name) => !without.has(name) && (settings.suites?.includes(name) ?? true));
  return {
    checks,
    missing,
    isUsable,
    abilities,
    canChooseNode: facts.isAtLeast(1, 6),
    hotplugsNics: facts.isGateEnabled('HotplugNICs') && migration.length === 0,
    reservesCpus: nodes.some((node) => topologyOf(node).reservesCpus),
  };
}

function lackOf({ name, status, message, remedy }: DiagnosticCheck): MissingRequirement[] {
  const suites = SUITES_OF_CHECKS[name];
  const isMissing = status === 'error' || (status === 'warning' && NEEDED_WITHOUT_WARNING.includes(name));
  return isMissing && suites ? [{ message, remedy, suites }] : [];
}

const gateLacks = (facts: ClusterFacts): MissingRequirement[] =>
  GATES.filter(([gate]) => !facts.isGateEnabled(gate)).map(([gate, suites]) => ({
    message: `The feature gate ${gate} of KubeVirt is off.`,
    remedy: 'List it in the KubeVirt object under spec.configuration.developerConfiguration.featureGates.',
    suites,
  }));

/** A guest may start on any node, so each one needs a second node that the guest can migrate to. */
function migrationLack(nodes: readonly NodeObject[]): MissingRequirement[] {
  const vendorOf = (node: NodeObject): string => vendorsOf(node).join('/');
  const alone = nodes.filter((node) => nodes.filter((other) => vendorOf(other) === vendorOf(node)).length < 2);
  if (alone.length === 0 && new Set(nodes.map(vendorOf)).size === 1) return [];
  const vendors = [...new Set(nodes.map(vendorOf))].join(' and ');
  return [
    {
      message:
        nodes.length < 2
          ? 'There is one schedulable node only: guests have no node to migrate to.'
          : `The schedulable nodes have CPUs of ${vendors}: guests can't migrate between them.`,
      remedy:
        'Add a node, or cordon the nodes of the other vendor during the suites (kubectl cordon, then kubectl uncordon).',
      suites: ['migration', 'diskMove'],
    },
  ];
}

async function settingLacks({ api, settings }: SuiteCluster, facts: ClusterFacts): Promise<MissingRequirement[]> {
  const { imageUrl, storageClass, containerDisk } = settings;
  const found: MissingRequirement[] = [];
  const lack = (message: string, remedy: string, ...suites: AbilityName[]): void =>
    void found.push({ message, remedy, suites });
  if (imageUrl === undefined) {
    const remedy = 'Add --image-url URL of an image that the cluster can download.';
    lack(
      'No small disk image is known.',
      remedy,
      'images',
      'diskMove',
      'diskExport',
      'diskSource',
      'backupSource',
      'bootProof',
    );
  }
  if (containerDisk === undefined) {
    const remedy = 'Add --container-disk IMAGE of a guest that has the agent and boots with 512 MiB.';
    lack('The guest of the default container disk has no agent.', remedy, 'guestInfo');
  }
  const obstacle = moveObstacle(facts);
  if (obstacle !== undefined) {
    lack(obstacle, 'Update KubeVirt, or change its configuration.', 'diskMove');
  } else if (storageClass === undefined) {
    lack('No second storage class is known.', 'Add --storage-class NAME of a class that nodes share.', 'diskMove');
  } else {
    const classes = await storageClasses(api);
    const isOther = defaultClass(classes)?.metadata.name !== storageClass;
    if (!isOther || !classes.some(({ metadata }) => metadata.name === storageClass))
      lack(`${storageClass} is not a second storage class.`, 'Name another one with --storage-class.', 'diskMove');
  }
  return found;
}
