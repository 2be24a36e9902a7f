import type { DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import type { NodeObject } from '../api/object-types.js';
import { CDIS, NODES } from '../api/resources.js';
import { defaultClass, storageClasses } from '../cluster/storage-classes.js';
import { isSchedulable, vendorsOf } from '../migration/migration-target.js';
import type { MissingRequirement, SuiteSelection } from './requirements.js';
import { Scrubber } from './scrub.js';
import type { SuiteCluster } from './suite-cluster.js';

/** The result file of Jest, as far as it is used. */
export interface JestResults {
  readonly testResults: readonly {
    /** The reason why the file could not be run. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly duration?: number | null;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

export interface SuiteResult {
  readonly suite: string;
  passed: number;
  failed: number;
  seconds: number;
  readonly failures: { readonly test: string; readonly message: string }[];
}

/** What a person sends to the developers: no secrets, no addresses, no names of nodes. */
export interface SuiteReport {
  readonly format: 1;
  readonly createdAt: string;
  readonly versions: { readonly kubernetes: string; readonly kubevirt: string; readonly cdi: string };
  readonly nodes: readonly { readonly architecture: string; readonly cpuVendor: string; readonly count: number }[];
  readonly storage: readonly {
    readonly provisioner: string;
    readonly binding: string;
    readonly canExpand: boolean;
    readonly isDefault: boolean;
  }[];
  readonly checks: readonly Pick<DiagnosticCheck, 'name' | 'status' | 'message'>[];
  readonly notRun: readonly MissingRequirement[];
  /** Whether a node reserves CPUs for single VMs; otherwise the suites only check that this is refused. */
  readonly reservesCpus: boolean;
  /** Why there are no results; absent if there are some. */
  readonly problem?: string;
  readonly passed: number;
  readonly failed: number;
  readonly suites: readonly SuiteResult[];
}

const UNKNOWN = 'unknown';

interface CdiObject extends KubeObject {
  readonly status?: { readonly observedVersion?: string };
}

/** @param results absent when the suites did not run to their end */
export async function reportOf(
  cluster: SuiteCluster,
  { checks, missing, reservesCpus }: SuiteSelection,
  results: JestResults | undefined,
  problem?: string,
): Promise<SuiteReport> {
  const { api, discovery, settings, clock } = cluster;
  const facts = await discovery.facts();
  const [{ gitVersion = UNKNOWN }, nodes, classes, [cdi]] = await Promise.all([
    api.json<{ gitVersion?: string }>('GET', '/version'),
    api.list<NodeObject>(NODES),
    storageClasses(api),
    facts.hasCdi ? api.list<CdiObject>(CDIS) : [],
  ]);
  const names = nodes.map(({ metadata }, index) => [metadata.name ?? '', `node-${index + 1}`] as const);
  const scrubber = new Scrubber({
    ...Object.fromEntries(names),
    [settings.kubeconfig]: '<kubeconfig>',
    [await cluster.host()]: '<server>',
  });
  const scrub = (text: string): string => scrubber.scrub(text);
  const suites = results ? suiteResults(results, scrub) : [];
  return {
    format: 1,
    createdAt: clock.iso(),
    versions: {
      kubernetes: gitVersion,
      kubevirt: facts.kubevirt?.status?.observedKubeVirtVersion ?? UNKNOWN,
      cdi: cdi?.status?.observedVersion ?? (facts.hasCdi ? UNKNOWN : 'not installed'),
    },
    nodes: countedNodes(nodes),
    storage: classes.map((one) => ({
      provisioner: one.provisioner ?? UNKNOWN,
      binding: one.volumeBindingMode ?? UNKNOWN,
      canExpand: one.allowVolumeExpansion === true,
      isDefault: one === defaultClass(classes),
    })),
    checks: checks.map(({ name, status, message }) => ({ name, status, message: scrub(message) })),
    notRun: missing.map(({ message, remedy, suites: left }) => ({ message: scrub(message), remedy, suites: left })),
    reservesCpus,
    ...(problem !== undefined && { problem: scrub(problem) }),
    passed: suites.reduce((sum, { passed }) => sum + passed, 0),
    failed: suites.reduce((sum, { failed }) => sum + failed, 0),
    suites,
  };
}

function countedNodes(nodes: readonly NodeObject[]): SuiteReport['nodes'] {
  const groups = Map.groupBy(nodes.filter(isSchedulable), (node) =>
    [node.status?.nodeInfo?.architecture ?? UNKNOWN, vendorsOf(node).join('/') || UNKNOWN].join(' '),
  );
  return [...groups].map(([key, { length }]) => {
    const [architecture = '', cpuVendor = ''] = key.split(' ');
    return { architecture, cpuVendor, count: length };
  });
}

/** The results per suite, which is the outermost title of a test. */
export function suiteResults({ testResults }: JestResults, scrub: (text: string) => string): SuiteResult[] {
  const found = new Map<string, SuiteResult>();
  const suiteOf = (name: string): SuiteResult => {
    const suite = found.get(name) ?? { suite: name, passed: 0, failed: 0, seconds: 0, failures: [] };
    found.set(name, suite);
    return suite;
  };
  for (const { assertionResults, message = '' } of testResults) {
    for (const { ancestorTitles, title, status, duration, failureMessages } of assertionResults) {
      const [outermost = '', ...inner] = ancestorTitles;
      const suite = suiteOf(outermost.replace(/,? ?kube over .*$/, '') || title);
      suite.seconds = Math.round((suite.seconds + (duration ?? 0) / 1000) * 10) / 10;
      if (status === 'passed') suite.passed++;
      if (status !== 'failed') continue;
      suite.failed++;
      suite.failures.push({ test: [...inner, title].join(' '), message: scrub(failureMessages?.join('\n') ?? '') });
    }
    if (assertionResults.some(({ status }) => status === 'failed') || message === '') continue;
    // The file could not be loaded, or something was left open after its tests.
    const suite = suiteOf('the run itself');
    suite.failed++;
    suite.failures.push({ test: 'ends in good order', message: scrub(message) });
  }
  return [...found.values()];
}
