import { DomainError, refusal, type Refusal } from '@headgate/domain-contracts';
import { isTrue } from '../api/kube-object.js';
import type { NodeObject } from '../api/object-types.js';
import { missingLabels, remedyFor, type Labels } from './target-labels.js';

const VENDOR_PREFIX = 'cpu-vendor.node.kubevirt.io/';
const HOSTNAME = 'kubernetes.io/hostname';
/** How many nodes a refusal names. */
const MOST_NAMED = 3;

export const isReady = (node: NodeObject): boolean => isTrue(node.status?.conditions, 'Ready');

/** The node's CPU vendors, from the labels that KubeVirt sets. */
export const vendorsOf = ({ metadata }: NodeObject): readonly string[] =>
  Object.entries(metadata.labels ?? {})
    .filter(([label, value]) => label.startsWith(VENDOR_PREFIX) && value === 'true')
    .map(([label]) => label.slice(VENDOR_PREFIX.length))
    .sort();

/** Why KubeVirt schedules no guest on the node, one sentence; empty if it does. */
export function unschedulableReason(node: NodeObject): string {
  if (!isReady(node)) return 'The node is not ready.';
  if (node.spec?.unschedulable === true) return 'The node is cordoned.';
  if (node.metadata.labels?.['kubevirt.io/schedulable'] === 'true') return '';
  return 'KubeVirt does not run guests on the node.';
}

/** Whether KubeVirt schedules guests on the node. */
export const isSchedulable = (node: NodeObject): boolean => unschedulableReason(node) === '';

/** The node's hostname label, which may differ from the node's name. */
const hostnameOf = ({ metadata }: NodeObject): string => metadata.labels?.[HOSTNAME] ?? metadata.name ?? '';

export const nodeSelectorFor = (node: NodeObject): Readonly<Record<string, string>> => ({
  [HOSTNAME]: hostnameOf(node),
});

/**
 * Restricts a migration to the requested node, or to all nodes with the same CPU vendor.
 * @param needed the labels that the node needs besides its vendor's
 * @returns the node selector to add
 * @throws DomainError NODE_NOT_FOUND, or WRONG_STATE with the reason why the guest can't run there, and the remedy in
 *   its details
 */
export function chooseTarget(
  nodes: readonly NodeObject[],
  sourceName: string,
  targetName: string | undefined,
  needed: Labels = {},
): Readonly<Record<string, string>> {
  const source = nodes.find(({ metadata }) => metadata.name === sourceName);
  const vendors = source ? vendorsOf(source) : [];
  if (targetName === undefined) {
    expectAnyTarget(nodes, { sourceName, vendors, needed });
    return Object.fromEntries(vendors.map((vendor) => [VENDOR_PREFIX + vendor, 'true']));
  }
  const target = nodes.find(({ metadata }) => metadata.name === targetName);
  if (!target) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${targetName}.`);
  expectTarget(target, targetName, { sourceName, vendors, needed });
  return nodeSelectorFor(target);
}

/** The names of the nodes that a guest may migrate to, sorted. Their free resources are not considered. */
export function targetsOf(nodes: readonly NodeObject[], sourceName: string, needed: Labels): string[] {
  const source = nodes.find(({ metadata }) => metadata.name === sourceName);
  const vendors = source ? vendorsOf(source) : [];
  return nodes
    .filter((node) => node !== source && isSchedulable(node) && hasVendors(node, vendors))
    .filter((node) => missingLabels(node, needed).length === 0)
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

interface Needs {
  readonly sourceName: string;
  readonly vendors: readonly string[];
  readonly needed: Labels;
}

function expectAnyTarget(nodes: readonly NodeObject[], { sourceName, vendors, needed }: Needs): void {
  const others = nodes.filter(
    (node) => node.metadata.name !== sourceName && isSchedulable(node) && hasVendors(node, vendors),
  );
  if (others.length === 0) {
    const withVendor = vendors.length > 0 ? ` with a CPU of ${vendors.join('/')}` : '';
    refuse(`There is no other schedulable node${withVendor} at the moment.`);
  }
  const incomplete = others.map((node) => ({ node, missing: missingLabels(node, needed) }));
  if (incomplete.some(({ missing }) => missing.length === 0)) return;
  const named = incomplete
    .slice(0, MOST_NAMED)
    .map(({ node, missing }) => `${node.metadata.name} lacks ${list(missing)}`);
  const more = incomplete.length > MOST_NAMED ? `, and more` : '';
  const remedy = remedyFor(incomplete.flatMap(({ missing }) => missing));
  refuse(`No other node has the labels that the target of the migration needs: ${named.join(', ')}${more}.`, remedy);
}

function expectTarget(target: NodeObject, targetName: string, { sourceName, vendors, needed }: Needs): void {
  if (targetName === sourceName) refuse(`The VM already runs on ${targetName}; choose another node.`);
  if (!isSchedulable(target)) refuse(`${targetName} is not schedulable at the moment; choose another node.`);
  if (!hasVendors(target, vendors)) {
    refuse(
      `${targetName} has a CPU of ${vendorsOf(target).join('/') || 'an unknown vendor'}, ${sourceName} of ${vendors.join('/')}: a running guest can't migrate between CPU vendors.`,
      'Choose a node with a CPU of the same vendor, or move the VM while it is stopped.',
    );
  }
  const missing = missingLabels(target, needed);
  if (missing.length === 0) return;
  refuse(`${targetName} lacks ${list(missing)}, which the target of the migration needs.`, remedyFor(missing));
}

function refuse(reason: string, remedy?: string): never {
  const details = remedy && { refusals: [refusal('WRONG_STATE', reason, remedy)] };
  throw new DomainError('WRONG_STATE', reason, { details });
}

/** The remedy of a refusal by {@link chooseTarget}, if it is another than to wait or to choose another node. */
export const remedyOf = ({ details }: DomainError): string | undefined =>
  (details as { refusals?: readonly Refusal[] } | undefined)?.refusals?.[0]?.remedy;

const list = (labels: readonly string[]): string =>
  `the ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(' and ')}`;

const hasVendors = (node: NodeObject, vendors: readonly string[]): boolean =>
  vendors.length === 0 || vendors.every((vendor) => vendorsOf(node).includes(vendor));
