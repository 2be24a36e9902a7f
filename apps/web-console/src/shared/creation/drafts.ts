import type { InstanceCollection } from '../api/instance-path.js';

/** The form that a draft is of. */
export type DraftName = InstanceCollection | 'contexts';

/**
 * The contents of the forms that create instances or add contexts, until that has happened. Memory has all of a draft
 * as long as the page is open. The storage of the tab, which a reload keeps, has it without its secrets.
 */
const drafts = new Map<DraftName, object>();

const keyOf = (name: DraftName): string => `headgate.draft.${name}`;

/** @returns fields of a form; a draft of another release may have others */
export function draftOf(name: DraftName): object | undefined {
  const draft = drafts.get(name);
  if (draft) return draft;
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(name)) ?? 'null');
    return typeof stored === 'object' && stored !== null ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** @param withoutSecrets the form as the storage of the browser may have it */
export function saveDraft(name: DraftName, form: object, withoutSecrets: object): void {
  drafts.set(name, form);
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(withoutSecrets));
  } catch {
    // Storage may be full or disabled; then the draft lasts as long as the page.
    return;
  }
}

export function deleteDraft(name: DraftName): void {
  drafts.delete(name);
  try {
    sessionStorage.removeItem(keyOf(name));
  } catch {
    return;
  }
}
