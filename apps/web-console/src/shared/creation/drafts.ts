import type { InstanceCollection } from '../api/instance-path.js';

/**
 * The contents of create dialogs that were closed without creating, as long as the page is open. They are kept only in
 * memory, because they may contain passwords.
 */
const drafts = new Map<InstanceCollection, unknown>();

export const draftOf = <F>(collection: InstanceCollection): F | undefined => drafts.get(collection) as F | undefined;
export const saveDraft = (collection: InstanceCollection, form: unknown): void => void drafts.set(collection, form);
export const deleteDraft = (collection: InstanceCollection): void => void drafts.delete(collection);
