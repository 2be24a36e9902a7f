import { ApiError } from '../api-error.js';
import { keyOf, type KubeObject, type ObjectKey } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ServedResource } from '../resource-registry.js';
import { compareKeys } from '../store/resource-table.js';
import { continueTooOld, encodeContinue, PRESENT_REVISION } from '../requests/continue-token.js';
import { listTooOld, selects, type ListOptions, type Selection } from './list-options.js';

export interface Page {
  objects: KubeObject[];
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

/** Lists objects: all together, in pages of one revision, or at a past revision. */
export class ObjectLister {
  constructor(private readonly store: ObjectStore) {}

  /** Objects in the storage version. @throws ApiError 410 when the revision has been compacted */
  list({ name, definition }: ServedResource, selection: Selection, { limit, token, exactRevision }: ListOptions): Page {
    const { provider } = definition;
    if (provider) {
      const objects = provider.list(selection.namespace).filter((object) => selects(selection, object));
      return { objects, metadata: { resourceVersion: String(this.store.revision) } };
    }
    const { revision: wanted = exactRevision } = token ?? {};
    const revision = wanted === undefined || wanted === PRESENT_REVISION ? this.store.revision : wanted;
    if (limit !== undefined && revision === this.store.revision) return this.page(name, selection, limit, token?.after);
    const all = this.at(name, revision, selection, () => (token ? continueTooOld(token) : listTooOld()));
    const start = token ? all.findIndex((object) => compareKeys(keyOf(object), token.after) > 0) : 0;
    const rest = start < 0 ? [] : start === 0 ? all : all.slice(start);
    if (limit === undefined || rest.length <= limit)
      return { objects: rest, metadata: { resourceVersion: String(revision) } };
    const objects = rest.slice(0, limit);
    const isFiltered = selection.labels !== undefined || selection.fields !== undefined;
    return {
      objects,
      metadata: {
        resourceVersion: String(revision),
        continue: encodeContinue({ revision, after: keyOf(objects.at(-1)!) }),
        ...(isFiltered ? {} : { remainingItemCount: rest.length - limit }),
      },
    };
  }

  /** A page of the present objects. Only these are read: the others of a large fleet need not be built yet. */
  private page(resource: string, selection: Selection, limit: number, after: ObjectKey | undefined): Page {
    const { namespace, labels, fields } = selection;
    const revision = this.store.revision;
    const found = this.store.page(resource, { namespace, labels, where: fields?.matches, after, limit: limit + 1 });
    const objects = found.slice(0, limit);
    if (found.length <= limit) return { objects, metadata: { resourceVersion: String(revision) } };
    const last = keyOf(objects.at(-1)!);
    const isFiltered = labels !== undefined || fields !== undefined;
    const remaining = isFiltered ? {} : { remainingItemCount: this.store.countAfter(resource, namespace, last) };
    return {
      objects,
      metadata: {
        resourceVersion: String(revision),
        continue: encodeContinue({ revision, after: last }),
        ...remaining,
      },
    };
  }

  private at(resource: string, revision: number, selection: Selection, tooOld: () => ApiError): KubeObject[] {
    const query = { namespace: selection.namespace, labels: selection.labels, where: selection.fields?.matches };
    if (revision === this.store.revision) return this.store.list(resource, query);
    try {
      return this.store.listAt(resource, revision, query);
    } catch (error) {
      throw error instanceof ApiError && error.code === 410 ? tooOld() : error;
    }
  }
}
