import { DomainError } from '@headgate/domain-contracts';
import { isTrue } from '../api/kube-object.js';
import type { NodeObject } from '../api/object-types.js';

const VENDOR_PREFIX = 'cpu-vendor.node.kubevirt.io/';
const HOSTNAME = 'kubernetes.io/hostname';

export const isReady = (node: NodeObject): boolean => isTrue(node.status?.conditions, 'Ready');

/** The node's CPU vendors, from the labels that KubeVirt sets. */
export const vendorsOf = ({ metadata }: NodeObject): readonly string[] =>
  Object.entries(metadata.labels ?? {})
    .filter(([label, value]) => label.startsWith(VENDOR_PREFIX) && value === 'true')
    .map(([label]) => label.slice(VENDOR_PREFIX.length))
    .sort();

/** Whether KubeVirt schedules guests on the node. */
export const isSchedulable = (node: NodeObject): boolean =>
  isReady(node) && node.spec?.unschedulable !== true && node.metadata.labels?.['kubevirt.io/schedulable'] === 'true';

/** The node's hostname label, which may differ from the node's name. */
const hostnameOf = ({ metadata }: NodeObject): string => metadata.labels?.[HOSTNAME] ?? metadata.name ?? '';

export const nodeSelectorFor = (node: NodeObject): Readonly<Record<string, string>> => ({
  [HOSTNAME]: hostnameOf(node),
});

/**
 * Restricts a migration to the requested node, or to all nodes with the same CPU vendor.
 * @returns the node selector to add
 * @throws DomainError NODE_NOT_FOUND, or WRONG_STATE with the reason why the guest can't run there
 */
export function chooseTarget(
  nodes: readonly NodeObject[],
  sourceName: string,
  targetName: string | undefined,
): Readonly<Record<string, string>> {
  const source = nodes.find(({ metadata }) => metadata.name === sourceName);
  const vendors = source ? vendorsOf(source) : [];
  if (targetName === undefined) {
    const others = nodes.filter(
      (node) => node.metadata.name !== sourceName && isSchedulable(node) && hasVendors(node, vendors),
    );
    if (others.length === 0) {
      const withVendor = vendors.length > 0 ? ` with a CPU of ${vendors.join('/')}` : '';
      throw new DomainError('WRONG_STATE', `There is no other schedulable node${withVendor} at the moment.`);
    }
    return Object.fromEntries(vendors.map((vendor) => [VENDOR_PREFIX + vendor, 'true']));
  }
  const target = nodes.find(({ metadata }) => metadata.name === targetName);
  if (!target) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${targetName}.`);
  if (targetName === sourceName)
    throw new DomainError('WRONG_STATE', `The VM already runs on ${targetName}; choose another node.`);
  if (!isSchedulable(target)) {
    throw new DomainError('WRONG_STATE', `${targetName} is not schedulable at the moment; choose another node.`);
  }
  if (!hasVendors(target, vendors)) {
    throw new DomainError(
      'WRONG_STATE',
      `${targetName} has a CPU of ${vendorsOf(target).join('/') || 'an unknown vendor'}, ${sourceName} of ${vendors.join('/')}: a running guest can't migrate between CPU vendors.`,
    );
  }
  return nodeSelectorFor(target);
}

const hasVendors = (node: NodeObject, vendors: readonly string[]): boolean =>
  vendors.length === 0 || vendors.every((vendor) => vendorsOf(node).includes(vendor));
