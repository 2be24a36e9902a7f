import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import { nameOf, type ResourceRegistry } from '../resource-registry.js';
import type { StoreEvent } from '../store/store-event.js';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

/** Creates the service account of new namespaces, and empties deleted namespaces before it finalizes them. */
export class NamespaceLifecycle {
  private readonly terminating = new Set<string>();

  constructor(
    private readonly store: ObjectStore,
    private readonly registry: ResourceRegistry,
  ) {}

  /** @returns a function that stops it */
  start(): () => void {
    return this.store.subscribe('*', (event) => this.react(event), { atRest: 'never' });
  }

  private react({ type, resource, object }: StoreEvent): void {
    if (resource === 'namespaces') this.reactToNamespace(type, object as Namespace);
    else if (type === 'DELETED' && this.terminating.has(object.metadata.namespace ?? ''))
      this.finishIfEmpty(object.metadata.namespace ?? '');
  }

  private reactToNamespace(type: StoreEvent['type'], { metadata }: Namespace): void {
    const { name } = metadata;
    if (type === 'DELETED') return void this.terminating.delete(name);
    if (type === 'ADDED') return this.addServiceAccount(name);
    if (!metadata.deletionTimestamp || this.terminating.has(name)) return;
    this.terminating.add(name);
    this.store.patch<Namespace>('namespaces', { name }, (draft) => {
      draft.status = { ...draft.status, phase: 'Terminating' };
    });
    for (const resource of this.namespacedResources()) {
      for (const object of this.store.list(resource, { namespace: name })) {
        if (this.store.get(resource, object.metadata)) this.store.delete(resource, object.metadata);
      }
    }
    this.finishIfEmpty(name);
  }

  private addServiceAccount(namespace: string): void {
    if (this.store.get('serviceaccounts', { namespace, name: 'default' })) return;
    this.store.create('serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'default' },
    });
  }

  private finishIfEmpty(namespace: string): void {
    const isEmpty = this.namespacedResources().every((resource) => this.store.count(resource, namespace) === 0);
    if (!isEmpty || !this.store.get('namespaces', { name: namespace })) return;
    this.store.patch<Namespace>('namespaces', { name: namespace }, (draft) => {
      draft.spec = { ...draft.spec, finalizers: [] };
    });
  }

  private namespacedResources(): string[] {
    return this.registry
      .all()
      .filter(({ namespaced, provider, aliasOf, handleCreate }) => namespaced && !provider && !aliasOf && !handleCreate)
      .map(nameOf);
  }
}
