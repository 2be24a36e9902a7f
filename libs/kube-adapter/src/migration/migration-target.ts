import { DomainError } from '@headgate/domain-contracts';
import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';

/** The fields of a Node that this adapter reads. */
export interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly nodeInfo?: { readonly kubeletVersion?: string; readonly architecture?: string };
    readonly allocatable?: Readonly<Record<string, string>>;
  };
}

const VENDOR_PREFIX = 'cpu-vendor.node.kubevirt.io/';
const HOSTNAME = 'kubernetes.io/hostname';

export const isReady = (node: NodeObject): boolean => conditionOf(node.status?.conditions, 'Ready')?.status === 'True';

/** CPU vendors by the labels that KubeVirt puts on nodes. */
export const vendorsOf = ({ metadata }: NodeObject): readonly string[] =>
  Object.entries(metadata.labels ?? {})
    .filter(([label, value]) => label.startsWith(VENDOR_PREFIX) && value === 'true')
    .map(([label]) => label.slice(VENDOR_PREFIX.length))
    .sort();

/** Whether KubeVirt puts guests there. */
export const takesGuests = (node: NodeObject): boolean =>
  isReady(node) && node.spec?.unschedulable !== true && node.metadata.labels?.['kubevirt.io/schedulable'] === 'true';

/** The node's value of the label that pods are pinned by; it need not be the node's name. */
const hostnameOf = ({ metadata }: NodeObject): string => metadata.labels?.[HOSTNAME] ?? metadata.name ?? '';

export const pinnedTo = (node: NodeObject): Readonly<Record<string, string>> => ({ [HOSTNAME]: hostnameOf(node) });

/**
 * Where a guest may go: the node that was asked for, or none in particular among those with the same CPU vendor.
 * @returns the node selector to add
 * @throws DomainError NODE_NOT_FOUND, WRONG_STATE with the reason that the guest can't go there
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
      (node) => node.metadata.name !== sourceName && takesGuests(node) && sameVendor(node, vendors),
    );
    if (others.length === 0) {
      const same = vendors.length > 0 ? ` with a CPU of ${vendors.join('/')}` : '';
      throw new DomainError('WRONG_STATE', `There is no other node${same} that takes guests at the moment.`);
    }
    return Object.fromEntries(vendors.map((vendor) => [VENDOR_PREFIX + vendor, 'true']));
  }
  const target = nodes.find(({ metadata }) => metadata.name === targetName);
  if (!target) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${targetName}.`);
  if (targetName === sourceName)
    throw new DomainError('WRONG_STATE', `It runs on ${targetName} already; choose another node.`);
  if (!takesGuests(target)) throw new DomainError('WRONG_STATE', `${targetName} takes no guests at the moment.`);
  if (!sameVendor(target, vendors)) {
    throw new DomainError(
      'WRONG_STATE',
      `${targetName} has a CPU of ${vendorsOf(target).join('/') || 'an unknown vendor'}, ${sourceName} of ${vendors.join('/')}: a running guest can't move between vendors.`,
    );
  }
  return pinnedTo(target);
}

const sameVendor = (node: NodeObject, vendors: readonly string[]): boolean =>
  vendors.length === 0 || vendors.every((vendor) => vendorsOf(node).includes(vendor));
