import type { DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import { CDIS } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { check, type CheckOutcome } from './check.js';

/** Feature gates that this service needs, and what for. */
const NEEDED_GATES: readonly (readonly [string, string])[] = [
  ['Snapshot', 'snapshots and clones'],
  ['VMExport', 'disk export'],
  ['ExpandDisks', 'growing disks'],
];

/** Whether the components that run VMs are installed and healthy. */
export const componentChecks = (api: KubeApi, facts: ClusterFacts): Promise<DiagnosticCheck>[] => [
  check('kubevirt', () => kubevirt(facts)),
  ...(facts.hasKubevirt
    ? [
        check('kubevirt-api', () => subresources(api)),
        check('kubevirt-gates', () => gates(facts)),
        check('live-update', () => liveUpdate(facts)),
      ]
    : []),
  check('cdi', () => cdi(api, facts)),
  check('multus', () => optional(facts, 'k8s.cni.cncf.io/v1', 'Multus', 'secondary networks')),
  check('metrics', () =>
    optional(facts, 'metrics.k8s.io/v1beta1', 'The metrics-server', 'live CPU and memory figures'),
  ),
];

function kubevirt(facts: ClusterFacts): CheckOutcome {
  if (!facts.hasKubevirt) {
    return {
      status: 'error',
      message: 'KubeVirt is not installed; only containers can run.',
      remedy: 'Install KubeVirt.',
    };
  }
  const version = facts.kubevirt?.status?.observedKubeVirtVersion ?? 'of an unknown version';
  if (!facts.kubevirt) {
    return {
      status: 'warning',
      message: 'The KubeVirt API is served, but the account may not read the KubeVirt object.',
      remedy: 'Let the account list kubevirts.kubevirt.io.',
    };
  }
  if (facts.isDeployed) return { status: 'ok', message: `KubeVirt ${version} is deployed.` };
  const { phase, conditions } = facts.kubevirt.status ?? {};
  const why = conditionOf(conditions, 'Available')?.message;
  return {
    status: 'error',
    message: `KubeVirt ${version} is ${phase ?? 'not deployed'}${why ? `: ${why}` : ''}.`,
    remedy: 'Check the log of the virt-operator.',
  };
}

async function subresources(api: KubeApi): Promise<CheckOutcome> {
  await api.json('GET', '/apis/subresources.kubevirt.io/v1');
  return { status: 'ok', message: 'The action and console endpoints answer.' };
}

function gates(facts: ClusterFacts): CheckOutcome {
  const off = NEEDED_GATES.filter(([gate]) => !facts.isGateEnabled(gate));
  if (!facts.isGateEnabled('HotplugVolumes') && !facts.isGateEnabled('DeclarativeHotplugVolumes'))
    off.push(['HotplugVolumes', 'adding disks to running VMs']);
  if (off.length === 0) return { status: 'ok', message: 'All required feature gates are on.' };
  return {
    status: 'warning',
    message: `Feature gates that are off: ${off.map(([gate, use]) => `${gate} (${use})`).join(', ')}.`,
    remedy: 'List them in the KubeVirt object under spec.configuration.developerConfiguration.featureGates.',
  };
}

function liveUpdate({ kubevirt }: ClusterFacts): CheckOutcome {
  if (kubevirt?.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.includes('LiveMigrate')) {
    return { status: 'ok', message: 'CPU and memory can be added to running VMs.' };
  }
  return {
    status: 'warning',
    message: 'CPU and memory that are added to a running VM take effect only after a migration or restart.',
    remedy: 'Add LiveMigrate to spec.workloadUpdateStrategy.workloadUpdateMethods of the KubeVirt object.',
  };
}

async function cdi(api: KubeApi, facts: ClusterFacts): Promise<CheckOutcome> {
  if (!facts.hasCdi) {
    return { status: 'warning', message: 'CDI is not installed; images cannot be imported.', remedy: 'Install CDI.' };
  }
  const [cdi] = await api.list<KubeObject & { status?: { phase?: string; observedVersion?: string } }>(CDIS);
  const { phase, observedVersion = 'of an unknown version' } = cdi?.status ?? {};
  if (phase === 'Deployed') return { status: 'ok', message: `CDI ${observedVersion} is deployed.` };
  return {
    status: 'warning',
    message: `CDI is ${phase || 'not deployed'}.`,
    remedy: 'Check the log of the cdi-operator.',
  };
}

const optional = (facts: ClusterFacts, api: string, product: string, use: string): CheckOutcome =>
  facts.serves(api)
    ? { status: 'ok', message: `${product} is installed.` }
    : {
        status: 'warning',
        message: `${product} is not installed; without it there are no ${use}.`,
        remedy: `Install it to get ${use}.`,
      };
