import type { InstanceCollection } from '../api/instance-path.js';

/**
 * What was typed into a dialog that was closed without creating, as long as the page is open. In memory only: there may be a
 * password in it.
 */
const drafts = new Map<InstanceCollection, unknown>();

export const draftOf = <F>(collection: InstanceCollection): F | undefined => drafts.get(collection) as F | undefined;
export const keepDraft = (collection: InstanceCollection, form: unknown): void => void drafts.set(collection, form);
export const dropDraft = (collection: InstanceCollection): void => void drafts.delete(collection);
