import type { KubeObject } from '../kube-object.js';
import { parseLabelSelector, type LabelSelector } from '../label-selector.js';

export interface ListOptions<T extends KubeObject = KubeObject> {
  namespace?: string;
  /** A selector such as `app=web,!legacy`, or a parsed one. */
  labels?: string | LabelSelector;
  where?: (object: T) => boolean;
}

/** @throws ApiError 400 for a selector that cannot be parsed */
export function* filterObjects<T extends KubeObject>(
  objects: Iterable<KubeObject>,
  { labels, where }: ListOptions<T>,
): Iterable<T> {
  const selects = typeof labels === 'string' ? parseLabelSelector(labels) : labels;
  for (const object of objects as Iterable<T>) {
    if (selects && !selects(object.metadata.labels)) continue;
    if (where && !where(object)) continue;
    yield object;
  }
}
