import { ALL_VERBS, type ResourceDefinition } from '../resource-definition.js';
import type { ResourceRegistry } from '../resource-registry.js';
import type { SubresourceRegistry } from '../subresources.js';

export interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: readonly string[];
  shortNames?: string[];
  categories?: string[];
}

const STATUS_VERBS = ['get', 'patch', 'update'];

/** The discovery entries of one group and version. */
export function apiResources(
  group: string,
  version: string,
  registry: ResourceRegistry,
  subresources: SubresourceRegistry,
): ApiResource[] {
  const owned = registry
    .all()
    .filter(
      (definition) =>
        definition.group === group && definition.versions.some(({ name, served }) => served && name === version),
    );
  const listed = owned.flatMap(entriesOf);
  const names = new Set(listed.map(({ name }) => name));
  const registered = subresources
    .addresses(group)
    .filter(({ subresource }) => subresource !== '')
    .map(({ resource, subresource }) => ({ resource, name: `${resource}/${subresource}` }))
    .filter(({ name }) => !names.has(name))
    .map(({ resource, name }): ApiResource => {
      const owner = registry.findServed(group, version, resource)?.definition;
      return {
        name,
        singularName: '',
        namespaced: owner?.namespaced ?? true,
        kind: owner?.kind ?? '',
        verbs: owner ? ['create', 'get'] : [],
      };
    });
  return [...listed, ...registered];
}

function entriesOf(definition: ResourceDefinition): ApiResource[] {
  const { plural, singular, kind, namespaced, shortNames, categories, verbs = verbsOf(definition) } = definition;
  const entry = (name: string, fields: Partial<ApiResource>): ApiResource => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    kind,
    verbs: STATUS_VERBS,
    ...fields,
  });
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames && { shortNames }),
      ...(categories && { categories }),
    },
    ...(definition.statusSubresource ? [entry('status', {})] : []),
    ...(definition.scale ? [entry('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' })] : []),
    ...(definition.subresources ?? []).map(({ name, ...fields }) => entry(name, fields)),
  ];
}

function verbsOf({ provider, handleCreate }: ResourceDefinition): readonly string[] {
  if (handleCreate) return ['create'];
  return provider ? ['get', 'list'] : ALL_VERBS;
}

/** All groups and their served versions, including groups that have only subresources. */
export function servedGroups(
  registry: ResourceRegistry,
  subresources: SubresourceRegistry,
): { group: string; versions: string[] }[] {
  const groups = new Map<string, Set<string>>();
  const add = (group: string, version: string): void => {
    const versions = groups.get(group) ?? new Set<string>();
    groups.set(group, versions.add(version));
  };
  for (const { group, version } of registry.groupVersions()) add(group, version);
  for (const { group, versions } of subresources.servedGroups()) for (const version of versions) add(group, version);
  return [...groups].map(([group, versions]) => ({ group, versions: [...versions].sort(byMaturity) }));
}

/** v2 before v1 before v1beta1 before v1alpha1, in the order of client preference. */
function byMaturity(a: string, b: string): number {
  const rank = (version: string): number[] => {
    const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
  };
  const left = rank(a);
  return (
    rank(b)
      .map((part, index) => part - left[index]!)
      .find((difference) => difference !== 0) ?? 0
  );
}
