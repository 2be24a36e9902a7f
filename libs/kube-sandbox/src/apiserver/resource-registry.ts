import { parseApiVersion, resourceName, apiVersionOf, type KubeObject } from './kube-object.js';
import type { ResourceDefinition, ResourceVersion } from './resource-definition.js';

/** A resource and the requested version of it. */
export interface ServedResource {
  definition: ResourceDefinition;
  version: ResourceVersion;
  /** Its name in the store, such as `deployments.apps`. */
  name: string;
}

/** The registered resources: the built-in ones, and those that CustomResourceDefinitions add and remove at run time. */
export class ResourceRegistry {
  private readonly byName = new Map<string, ResourceDefinition>();
  private readonly namesByKind = new Map<string, string>();
  private changes = 0;

  /** Adds or replaces a resource. */
  register(definition: ResourceDefinition): void {
    const name = nameOf(definition);
    this.unregister(name);
    this.byName.set(name, definition);
    // The first resource of a kind keeps it: metrics.k8s.io serves its PodMetrics under the plural `pods`, never the
    // kind Pod.
    const kind = `${definition.group}/${definition.kind}`;
    if (!this.namesByKind.has(kind)) this.namesByKind.set(kind, name);
    this.changes++;
  }

  unregister(name: string): void {
    const definition = this.byName.get(name);
    if (!definition) return;
    this.byName.delete(name);
    const kind = `${definition.group}/${definition.kind}`;
    if (this.namesByKind.get(kind) === name) this.namesByKind.delete(kind);
    this.changes++;
  }

  /** Incremented with every registration, so that caches derived from the registry can be invalidated. */
  get revision(): number {
    return this.changes;
  }

  /** @param name `pods`, `deployments.apps` */
  find(name: string): ResourceDefinition | undefined {
    return this.byName.get(name);
  }

  /** @throws Error when no such resource is registered, which is a bug of the caller */
  get(name: string): ResourceDefinition {
    const definition = this.byName.get(name);
    if (!definition) throw new Error(`no resource "${name}" is registered`);
    return definition;
  }

  findServed(group: string, version: string, plural: string): ServedResource | undefined {
    const name = resourceName(group, plural);
    const definition = this.byName.get(name);
    const served = definition?.versions.find((candidate) => candidate.name === version && candidate.served);
    return definition && served ? { definition, version: served, name: definition.aliasOf ?? name } : undefined;
  }

  /** The resource that stores objects of this kind, in any of its versions. */
  findByKind(apiVersion: string, kind: string): ResourceDefinition | undefined {
    const name = this.namesByKind.get(`${parseApiVersion(apiVersion).group}/${kind}`);
    return name === undefined ? undefined : this.byName.get(name);
  }

  /** The name of the resource that stores this object. @throws Error when its kind is not registered */
  resourceOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
    const definition = this.findByKind(apiVersion, kind);
    if (!definition) throw new Error(`no resource of kind "${kind}" in "${apiVersion}" is registered`);
    return nameOf(definition);
  }

  all(): ResourceDefinition[] {
    return [...this.byName.values()];
  }

  /** Served group and version pairs, core first, then in the order of registration. */
  groupVersions(): { group: string; version: string; resources: ResourceDefinition[] }[] {
    const found = new Map<string, { group: string; version: string; resources: ResourceDefinition[] }>();
    for (const definition of this.byName.values()) {
      for (const { name: version, served } of definition.versions) {
        if (!served) continue;
        const id = apiVersionOf(definition.group, version);
        const entry = found.get(id) ?? { group: definition.group, version, resources: [] };
        entry.resources.push(definition);
        found.set(id, entry);
      }
    }
    return [...found.values()].sort((a, b) => Number(a.group !== '') - Number(b.group !== ''));
  }
}

export function nameOf({ group, plural }: Pick<ResourceDefinition, 'group' | 'plural'>): string {
  return resourceName(group, plural);
}

export function storageApiVersion(definition: ResourceDefinition): string {
  return apiVersionOf(definition.group, definition.storageVersion ?? definition.versions[0]?.name ?? 'v1');
}
