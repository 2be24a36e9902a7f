import { apiVersionOf } from '../kube-object.js';
import type { ResourceRegistry } from '../resource-registry.js';
import type { SubresourceRegistry } from '../subresources.js';
import { parseAccept } from '../requests/negotiation.js';
import { aggregatedDiscovery } from './aggregated-discovery.js';
import { apiResources, servedGroups } from './api-resources.js';

export interface DiscoveryDocument {
  body: object;
  contentType: string;
}

/** Serves `/api`, `/apis` and the paths below them, in the legacy and the aggregated form. */
export class Discovery {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly subresources: SubresourceRegistry,
  ) {}

  /** @returns undefined when the path is not served */
  document(path: string, accept: string | undefined): DiscoveryDocument | undefined {
    const aggregated = aggregatedVersion(accept);
    if (aggregated && (path === '/api' || path === '/apis')) {
      const groups = this.groups().filter(({ group }) => (path === '/api') === (group === ''));
      return {
        body: aggregatedDiscovery(groups, aggregated, this.registry, this.subresources),
        contentType: `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`,
      };
    }
    const body = this.plain(path);
    return body && { body, contentType: 'application/json' };
  }

  private groups(): { group: string; versions: string[] }[] {
    return servedGroups(this.registry, this.subresources);
  }

  private plain(path: string): object | undefined {
    const [, root, first, second] = path.split('/');
    const groups = this.groups();
    if (root === 'api') {
      const core = groups.find(({ group }) => group === '');
      if (first === undefined)
        return { kind: 'APIVersions', versions: core?.versions ?? [], serverAddressByClientCIDRs: [] };
      return core?.versions.includes(first) ? this.resourceList('', first) : undefined;
    }
    if (first === undefined) {
      const named = groups.filter(({ group }) => group !== '');
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(apiGroup) };
    }
    const found = groups.find(({ group }) => group === first);
    if (!found || found.group === '') return undefined;
    if (second === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(found) };
    return found.versions.includes(second) ? this.resourceList(first, second) : undefined;
  }

  private resourceList(group: string, version: string): object {
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersionOf(group, version),
      resources: apiResources(group, version, this.registry, this.subresources),
    };
  }
}

function apiGroup({ group, versions }: { group: string; versions: string[] }) {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf(group, version), version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

function aggregatedVersion(accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  for (const { parameters } of parseAccept(accept)) {
    const version = parameters.get('v');
    if (parameters.get('as') === 'APIGroupDiscoveryList' && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}
