import { DomainError } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { CLAIMS, DATA_VOLUMES, NAMESPACES, NETWORK_ATTACHMENTS, PODS, VIRTUAL_MACHINES } from '../api/resources.js';
import type { Resource } from '../api/resources.js';
import type { SuiteCluster } from './suite-cluster.js';
import { NAME_PREFIX } from './suite-settings.js';

/** On everything that the preparation creates, and on nothing else. */
export const SUITE_LABEL = 'svc.dev/cluster-suite';
const MARK = { [SUITE_LABEL]: 'true' };
export const NETWORKS = ['lan-1', 'lan-2'] as const;

const GONE_INTERVAL_MS = 500;
const MAX_GONE_LOOKUPS = 240;

/** The suites attach NICs to them. The bridge plugin of CNI creates a bridge on the node of a VM that uses one. */
const networkNamed = (name: string, namespace: string): KubeObject =>
  ({
    metadata: { namespace, name, labels: MARK },
    spec: { config: JSON.stringify({ cniVersion: '1.0.0', name, type: 'bridge', bridge: `hgtest-${name}` }) },
  }) as KubeObject;

const isMarked = ({ metadata }: KubeObject): boolean => metadata.labels?.[SUITE_LABEL] === 'true';

/**
 * Creates the namespace and the networks of the suites, as far as they are missing.
 * @returns what it did, in sentences
 */
export async function prepareCluster({ api, discovery, settings }: SuiteCluster): Promise<string[]> {
  const { namespace } = settings;
  const done: string[] = [];
  const ensure = async (resource: Resource, object: KubeObject, title: string): Promise<void> => {
    const { name } = object.metadata;
    if (await api.find(resource, { namespace: object.metadata.namespace, name })) {
      return void done.push(`${title} exists.`);
    }
    try {
      await api.create(resource, object);
      done.push(`${title} was created.`);
    } catch (error) {
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
      done.push(`${title} exists.`);
    }
  };
  await ensure(NAMESPACES, { metadata: { name: namespace, labels: MARK } }, `The namespace ${namespace}`);
  const hasMultus = (await discovery.facts()).serves(NETWORK_ATTACHMENTS.apiVersion);
  for (const name of hasMultus ? NETWORKS : []) {
    await ensure(NETWORK_ATTACHMENTS, networkNamed(name, namespace), `The network ${namespace}/${name}`);
  }
  return done;
}

/**
 * Deletes what the preparation has created, and nothing else. The namespace stays if it contains instances or volumes
 * that the suites have not created. @returns what it did, in sentences
 */
export async function removePreparation(cluster: SuiteCluster): Promise<string[]> {
  const { api, discovery, settings } = cluster;
  const { namespace: name } = settings;
  const namespace = await api.find(NAMESPACES, { name });
  if (!namespace) return [`There is no namespace ${name}.`];
  const done: string[] = [];
  const hasMultus = (await discovery.facts()).serves(NETWORK_ATTACHMENTS.apiVersion);
  const labelSelector = `${SUITE_LABEL}=true`;
  for (const { metadata } of hasMultus ? await api.list(NETWORK_ATTACHMENTS, { namespace: name, labelSelector }) : []) {
    await api.delete(NETWORK_ATTACHMENTS, { namespace: name, name: metadata.name }, { uid: metadata.uid });
    done.push(`The network ${name}/${metadata.name} was deleted.`);
  }
  if (!isMarked(namespace)) return [...done, `The namespace ${name} stays: it was not created for the suites.`];
  const foreign = await foreignObjects(cluster);
  if (foreign.length > 0) {
    return [...done, `The namespace ${name} stays: the suites did not create ${foreign.join(', ')} in it.`];
  }
  await api.delete(NAMESPACES, { name }, { uid: namespace.metadata.uid });
  return [...done, await untilGone(cluster, namespace)];
}

/** Whatever a person or another program would miss. */
async function foreignObjects({ api, discovery, settings: { namespace } }: SuiteCluster): Promise<string[]> {
  const facts = await discovery.facts();
  const kinds = [
    CLAIMS,
    PODS,
    ...(facts.hasKubevirt ? [VIRTUAL_MACHINES] : []),
    ...(facts.hasCdi ? [DATA_VOLUMES] : []),
  ];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const objects = await api.list(kind, { namespace });
      const others = objects.filter((object) => !object.metadata.name?.startsWith(NAME_PREFIX) && !isOwned(object));
      return others.map(({ metadata }) => `${kind.kind} ${metadata.name}`);
    }),
  );
  return lists.flat();
}

/** Whether KubeVirt, CDI or a claim owns it, whose own owner is looked at, too. */
const isOwned = ({ metadata }: KubeObject): boolean =>
  metadata.ownerReferences?.some(
    ({ apiVersion, kind }) => /(^|\.)kubevirt\.io\//.test(apiVersion) || kind === CLAIMS.kind || kind === PODS.kind,
  ) === true;

async function untilGone({ api, clock }: SuiteCluster, { metadata: { name, uid } }: KubeObject): Promise<string> {
  for (let lookup = 0; lookup < MAX_GONE_LOOKUPS; lookup++) {
    const found = await api.find(NAMESPACES, { name });
    if (found?.metadata.uid !== uid) return `The namespace ${name} was deleted.`;
    await clock.delay(GONE_INTERVAL_MS);
  }
  return `The namespace ${name} is still being deleted: look for finalizers of its objects.`;
}
