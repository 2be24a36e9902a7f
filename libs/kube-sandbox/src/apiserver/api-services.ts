import type { KubeObject } from './kube-object.js';

export interface ApiServiceSeed {
  readonly group: string;
  readonly version: string;
  /** The service of an aggregated API server. Default: this server serves the group. */
  readonly service?: { readonly namespace: string; readonly name: string };
}

/** The APIService object of a group and version. Clients read it; requests are served without it. */
export function apiService({ group, version, service }: ApiServiceSeed, now: string): KubeObject {
  const available = service
    ? { reason: 'Passed', message: 'all checks passed' }
    : { reason: 'Local', message: 'Local APIServices are always available' };
  const spec = {
    ...(group ? { group } : {}),
    version,
    groupPriorityMinimum: service ? 1000 : 17_000,
    versionPriority: 15,
    ...(service ? { service: { ...service, port: 443 } } : {}),
  };
  const status = { conditions: [{ type: 'Available', status: 'True', lastTransitionTime: now, ...available }] };
  return Object.assign(
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
    },
    { spec, status },
  );
}
