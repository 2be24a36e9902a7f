import { CRDS, type CrdVersion, type CustomResourceDefinition } from '../builtin/custom-resource-definition.js';
import type { SandboxClock } from '../clock.js';
import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ResourceDefinition, ResourceVersion } from '../resource-definition.js';
import { nameOf, type ResourceRegistry } from '../resource-registry.js';
import type { StoreEvent } from '../store/store-event.js';
import { evaluateJsonPath } from '../table/json-path.js';

/** Serves the resources that the stored CustomResourceDefinitions define. */
export class CustomResourceDefinitions {
  private readonly registered = new Set<string>();

  constructor(
    private readonly store: ObjectStore,
    private readonly registry: ResourceRegistry,
    private readonly clock: SandboxClock,
  ) {}

  /** @returns a function that stops it */
  start(): () => void {
    return this.store.subscribe(CRDS, (event) => this.react(event as StoreEvent<CustomResourceDefinition>));
  }

  private react({ type, object, previous }: StoreEvent<CustomResourceDefinition>): void {
    if (type === 'DELETED') return this.remove(object);
    const isNew = object.spec !== previous?.spec && object.metadata.generation !== previous?.metadata.generation;
    if (!isNew) return;
    const definition = definitionOf(object);
    const name = nameOf(definition);
    // A definition that an extension has registered, and only describes in a CustomResourceDefinition, stays as it is.
    if (this.registered.has(name) || !this.registry.find(name)) {
      this.registry.register(definition);
      this.registered.add(name);
    }
    this.establish(object);
  }

  private establish({ metadata, spec }: CustomResourceDefinition): void {
    const condition = (kind: string, reason: string, message: string) => ({
      type: kind,
      status: 'True',
      lastTransitionTime: this.clock.timestamp(),
      reason,
      message,
    });
    this.store.patch<CustomResourceDefinition>(CRDS, metadata, (draft) => {
      draft.status = {
        conditions: [
          condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
          condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
        ],
        acceptedNames: { singular: spec.names.kind.toLowerCase(), listKind: `${spec.names.kind}List`, ...spec.names },
        storedVersions: spec.versions.filter(({ storage }) => storage).map(({ name }) => name),
      };
    });
  }

  private remove(crd: CustomResourceDefinition): void {
    const resource = nameOf(definitionOf(crd));
    for (const { metadata } of this.store.list(resource))
      if (this.store.get(resource, metadata)) this.store.delete(resource, metadata);
    this.registered.delete(resource);
    this.registry.unregister(resource);
  }
}

export function definitionOf({ spec }: CustomResourceDefinition): ResourceDefinition {
  const { group, names, scope, versions } = spec;
  const storage = versions.find((version) => version.storage) ?? versions[0];
  const selectable = storage?.selectableFields ?? [];
  return {
    group,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    namespaced: scope === 'Namespaced',
    versions: versions.map((version) => versionOf(version, group, names.kind)),
    ...(storage && { storageVersion: storage.name }),
    statusSubresource: storage?.subresources?.status !== undefined,
    ...(storage?.subresources?.scale && { scale: storage.subresources.scale }),
    selectableFields: Object.fromEntries(
      selectable.map(({ jsonPath }) => [
        jsonPath.replace(/^\./, ''),
        (object: KubeObject) => String(evaluateJsonPath(object, jsonPath)[0] ?? ''),
      ]),
    ),
  };
}

function versionOf(
  { name, served, deprecated, deprecationWarning, schema, additionalPrinterColumns }: CrdVersion,
  group: string,
  kind: string,
): ResourceVersion {
  return {
    name,
    served,
    ...(schema?.openAPIV3Schema && { schema: schema.openAPIV3Schema }),
    ...(additionalPrinterColumns && { columns: additionalPrinterColumns }),
    ...(deprecated && { deprecationWarning: deprecationWarning ?? `${group}/${name} ${kind} is deprecated` }),
  };
}
