import type { ResourceRegistry } from '../resource-registry.js';
import type { SubresourceRegistry } from '../subresources.js';
import { apiResources, type ApiResource } from './api-resources.js';

/** All groups, versions and resources in one `APIGroupDiscoveryList`. */
export function aggregatedDiscovery(
  groups: { group: string; versions: string[] }[],
  listVersion: 'v2' | 'v2beta1',
  registry: ResourceRegistry,
  subresources: SubresourceRegistry,
): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${listVersion}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { name: group || null, creationTimestamp: null },
      versions: versions.map((version) => ({
        version,
        resources: nested(group, version, apiResources(group, version, registry, subresources)),
        freshness: 'Current',
      })),
    })),
  };
}

/** Nests subresources in their resource; a subresource without a served resource gets an entry without verbs. */
function nested(group: string, version: string, resources: ApiResource[]): object[] {
  const parents = [...new Set(resources.map(({ name }) => name.split('/')[0]!))];
  const kindOf = ({ group: g = group, version: v = version, kind }: ApiResource) => ({ group: g, version: v, kind });
  return parents.map((parent) => {
    const own = resources.find(({ name }) => name === parent);
    const below = resources.filter(({ name }) => name.startsWith(`${parent}/`));
    const anyone = own ?? below[0]!;
    return {
      resource: parent,
      ...(own && { responseKind: kindOf(own) }),
      scope: anyone.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: own?.singularName ?? '',
      verbs: own?.verbs ?? [],
      ...(own?.shortNames && { shortNames: own.shortNames }),
      ...(own?.categories && { categories: own.categories }),
      ...(below.length > 0 && {
        subresources: below.map((each) => ({
          subresource: each.name.slice(parent.length + 1),
          responseKind: kindOf(each),
          verbs: each.verbs,
        })),
      }),
    };
  });
}
