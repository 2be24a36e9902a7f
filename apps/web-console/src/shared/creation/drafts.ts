import type { InstanceCollection } from '../api/instance-path.js';

/**
 * The contents of the pages that create instances, until the instance is created. Memory has all of a draft as long as
 * the page is open. The storage of the tab, which a reload keeps, has it without its secrets.
 */
const drafts = new Map<InstanceCollection, object>();

const keyOf = (collection: InstanceCollection): string => `headgate.draft.${collection}`;

/** @returns fields of a form; a draft of another release may have others */
export function draftOf(collection: InstanceCollection): object | undefined {
  const draft = drafts.get(collection);
  if (draft) return draft;
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(collection)) ?? 'null');
    return typeof stored === 'object' && stored !== null ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** @param withoutSecrets the form as the storage of the browser may have it */
export function saveDraft(collection: InstanceCollection, form: object, withoutSecrets: object): void {
  drafts.set(collection, form);
  try {
    sessionStorage.setItem(keyOf(collection), JSON.stringify(withoutSecrets));
  } catch {
    // Storage may be full or disabled; then the draft lasts as long as the page.
    return;
  }
}

export function deleteDraft(collection: InstanceCollection): void {
  drafts.delete(collection);
  try {
    sessionStorage.removeItem(keyOf(collection));
  } catch {
    return;
  }
}
