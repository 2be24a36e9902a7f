import { isIP } from 'node:net';
import { isVm, kindOf, statusOf, type InstanceView } from '../instances/instance.js';

export type HostVariables = Readonly<Record<string, unknown>>;

/** The JSON of Ansible's dynamic inventories. */
export interface AnsibleInventory {
  readonly _meta: { readonly hostvars: Readonly<Record<string, HostVariables>> };
  readonly [group: string]: unknown;
}

/** Ansible evaluates templates in variables. Guests report some of the values, so no text that could be one is used. */
const TEMPLATE = /\{[{%#]/;

/**
 * The inventory of instances: a host for each, in groups by kind, context, namespace, status, folder and tag. A name
 * that is not unique is followed by its namespace and context.
 */
export function ansibleInventory(instances: readonly InstanceView[]): AnsibleInventory {
  const counts = new Map<string, number>();
  for (const { name } of instances) counts.set(hostName(name), (counts.get(hostName(name)) ?? 0) + 1);
  const hostvars: Record<string, HostVariables> = {};
  const groups = new Map<string, string[]>();
  for (const instance of instances) {
    const { name, namespace, context } = instance;
    const short = hostName(name);
    const host = counts.get(short) === 1 ? short : `${short}.${hostName(namespace)}.${hostName(context)}`;
    hostvars[host] = variablesOf(instance);
    for (const group of groupsOf(instance)) groups.set(group, [...(groups.get(group) ?? []), host]);
  }
  const sorted = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    _meta: { hostvars },
    all: { children: [...sorted.map(([group]) => group), 'ungrouped'] },
    ...Object.fromEntries(sorted.map(([group, hosts]) => [group, { hosts }])),
  };
}

/** Other characters have a meaning in patterns of hosts, or in templates. */
const hostName = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^[^A-Za-z0-9_]/, '_');

const groupName = (text: string): string => text.replace(/[^A-Za-z0-9_]/g, '_');

/** With a prefix, no tag or folder can be `all` or replace another group. */
function groupsOf(instance: InstanceView): string[] {
  const { context, namespace, tags, folder } = instance;
  const groups = [
    `kind_${kindOf(instance)}`,
    `context_${context}`,
    `namespace_${namespace}`,
    `status_${statusOf(instance).toLowerCase()}`,
    ...tags.map((tag) => `tag_${tag}`),
    ...folders(folder).map((path) => `folder_${path}`),
  ];
  return [...new Set(groups.map(groupName))];
}

/** `prod/web` → `prod`, `prod/web`: a folder includes the folders in it. */
const folders = (folder = ''): string[] =>
  folder === '' ? [] : folder.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));

function variablesOf(instance: InstanceView): HostVariables {
  const { ref, name, namespace, context, backend, node, cpu, mem, tags, folder } = instance;
  const vm = isVm(instance) ? instance : undefined;
  const variables: Record<string, unknown> = {
    // A guest may report any address: the keys of its SSH server prove whether it is the right host.
    ansible_host: vm?.ip !== undefined && isIP(vm.ip) !== 0 ? vm.ip : undefined,
    headgate_ref: ref,
    headgate_name: name,
    headgate_kind: kindOf(instance),
    headgate_context: context,
    headgate_namespace: namespace,
    headgate_backend: backend,
    headgate_status: statusOf(instance),
    headgate_node: node,
    headgate_cpu: cpu,
    headgate_mem: mem,
    headgate_tags: tags.filter((tag) => !TEMPLATE.test(tag)),
    headgate_folder: folder,
    headgate_os: vm?.os,
    headgate_image: isVm(instance) ? undefined : instance.image,
  };
  return Object.fromEntries(
    Object.entries(variables).filter(
      ([, value]) => value !== undefined && value !== '' && !(typeof value === 'string' && TEMPLATE.test(value)),
    ),
  );
}
