import type { KubeObject, ObjectKey } from '../kube-object.js';
import { UnbuiltObject } from './objects-at-rest.js';

interface NamespaceTable {
  objects: Map<string, KubeObject | UnbuiltObject>;
  /** The sorted names, computed on demand and discarded when a name is added or removed. */
  sorted?: string[];
}

/** The objects of one resource, iterated in the order of their etcd keys. */
export class ResourceTable {
  private readonly namespaces = new Map<string, NamespaceTable>();
  private sortedNamespaces?: string[];
  private count = 0;
  private unbuilt = 0;

  get size(): number {
    return this.count;
  }

  sizeOf(namespace: string): number {
    return this.namespaces.get(namespace)?.objects.size ?? 0;
  }

  has({ namespace = '', name }: ObjectKey): boolean {
    return this.namespaces.get(namespace)?.objects.has(name) === true;
  }

  get({ namespace = '', name }: ObjectKey): KubeObject | undefined {
    const objects = this.namespaces.get(namespace)?.objects;
    const found = objects?.get(name);
    if (!(found instanceof UnbuiltObject)) return found;
    found.build();
    const built = objects!.get(name);
    return built instanceof UnbuiltObject ? undefined : built;
  }

  set(object: KubeObject): void {
    this.put(object.metadata, object);
  }

  /** Adds an object that `get` and `walk` build when they reach it. */
  setUnbuilt(object: UnbuiltObject): void {
    this.put(object, object);
  }

  private put({ namespace = '', name }: ObjectKey, object: KubeObject | UnbuiltObject): void {
    let table = this.namespaces.get(namespace);
    if (!table) {
      table = { objects: new Map() };
      this.namespaces.set(namespace, table);
      this.sortedNamespaces = undefined;
    }
    const known = table.objects.get(name);
    if (known === undefined) {
      table.sorted = undefined;
      this.count++;
    }
    this.unbuilt += Number(object instanceof UnbuiltObject) - Number(known instanceof UnbuiltObject);
    table.objects.set(name, object);
  }

  remove({ namespace = '', name }: ObjectKey): void {
    const table = this.namespaces.get(namespace);
    const known = table?.objects.get(name);
    if (!table || !known) return;
    table.objects.delete(name);
    this.count--;
    if (known instanceof UnbuiltObject) this.unbuilt--;
    table.sorted = undefined;
    if (table.objects.size === 0) {
      this.namespaces.delete(namespace);
      this.sortedNamespaces = undefined;
    }
  }

  /** All objects, or those of one namespace, sorted by namespace and name; optionally only those after a key. */
  *walk(namespace?: string, after?: ObjectKey): Iterable<KubeObject> {
    for (const key of this.keys(namespace, after)) {
      const object = this.get(key);
      if (object) yield object;
    }
  }

  /** The number of objects after a key. */
  countAfter(namespace: string | undefined, after: ObjectKey): number {
    let count = 0;
    for (const each of this.namespacesOf(namespace, after)) {
      const names = this.sortedNames(each);
      count += names.length - firstAfter(names, each, after);
    }
    return count;
  }

  /** The keys of the objects that are not built yet, among the first `limit` after a key. */
  unbuiltKeys(namespace?: string, after?: ObjectKey, limit = Infinity): ObjectKey[] {
    const found: ObjectKey[] = [];
    if (this.unbuilt === 0) return found;
    let position = 0;
    for (const key of this.keys(namespace, after)) {
      if (position++ >= limit) break;
      if (this.namespaces.get(key.namespace ?? '')?.objects.get(key.name) instanceof UnbuiltObject) found.push(key);
    }
    return found;
  }

  /** The keys, in the order of `walk`. */
  *keys(namespace?: string, after?: ObjectKey): Iterable<ObjectKey> {
    for (const each of this.namespacesOf(namespace, after)) {
      const names = this.sortedNames(each);
      for (let index = firstAfter(names, each, after); index < names.length; index++)
        yield { namespace: each, name: names[index]! };
    }
  }

  private namespacesOf(namespace: string | undefined, after: ObjectKey | undefined): readonly string[] {
    if (namespace === undefined) this.sortedNamespaces ??= [...this.namespaces.keys()].sort(byKeyOrder);
    const all = namespace === undefined ? this.sortedNamespaces! : [namespace];
    return after ? all.filter((each) => byKeyOrder(each, after.namespace ?? '') >= 0) : all;
  }

  private sortedNames(namespace: string): readonly string[] {
    const table = this.namespaces.get(namespace);
    if (!table) return [];
    return (table.sorted ??= [...table.objects.keys()].sort());
  }
}

/** The index of the first name after a key, in the sorted names of a namespace that is not before the key's. */
function firstAfter(names: readonly string[], namespace: string, after: ObjectKey | undefined): number {
  if (!after || namespace !== (after.namespace ?? '')) return 0;
  const index = names.findIndex((name) => name > after.name);
  return index < 0 ? names.length : index;
}

/** In etcd keys, a slash follows the namespace; it sorts after `-` and `.`. */
function byKeyOrder(a: string, b: string): number {
  const left = `${a}/`;
  const right = `${b}/`;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares two objects by their order in lists. */
export function compareKeys(a: ObjectKey, b: ObjectKey): number {
  const namespaces = a.namespace === b.namespace ? 0 : byKeyOrder(a.namespace ?? '', b.namespace ?? '');
  return namespaces || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
