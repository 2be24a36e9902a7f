import type { KubeObject, ObjectKey } from '../kube-object.js';

interface NamespaceTable {
  objects: Map<string, KubeObject>;
  /** The sorted names, computed on demand and discarded when a name is added or removed. */
  sorted?: string[];
}

/** The objects of one resource, iterated in the order of their etcd keys. */
export class ResourceTable {
  private readonly namespaces = new Map<string, NamespaceTable>();
  private sortedNamespaces?: string[];
  private count = 0;

  get size(): number {
    return this.count;
  }

  sizeOf(namespace: string): number {
    return this.namespaces.get(namespace)?.objects.size ?? 0;
  }

  get({ namespace = '', name }: ObjectKey): KubeObject | undefined {
    return this.namespaces.get(namespace)?.objects.get(name);
  }

  set(object: KubeObject): void {
    const { namespace = '', name } = object.metadata;
    let table = this.namespaces.get(namespace);
    if (!table) {
      table = { objects: new Map() };
      this.namespaces.set(namespace, table);
      this.sortedNamespaces = undefined;
    }
    if (!table.objects.has(name)) {
      table.sorted = undefined;
      this.count++;
    }
    table.objects.set(name, object);
  }

  remove({ namespace = '', name }: ObjectKey): void {
    const table = this.namespaces.get(namespace);
    if (!table?.objects.delete(name)) return;
    this.count--;
    table.sorted = undefined;
    if (table.objects.size === 0) {
      this.namespaces.delete(namespace);
      this.sortedNamespaces = undefined;
    }
  }

  /** All objects, or those of one namespace, sorted by namespace and name. */
  *walk(namespace?: string): Iterable<KubeObject> {
    if (namespace !== undefined) {
      yield* this.walkNamespace(namespace);
      return;
    }
    this.sortedNamespaces ??= [...this.namespaces.keys()].sort(byKeyOrder);
    for (const each of this.sortedNamespaces) yield* this.walkNamespace(each);
  }

  private *walkNamespace(namespace: string): Iterable<KubeObject> {
    const table = this.namespaces.get(namespace);
    if (!table) return;
    table.sorted ??= [...table.objects.keys()].sort();
    const { objects } = table;
    for (const name of table.sorted) {
      const object = objects.get(name);
      if (object) yield object;
    }
  }
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
