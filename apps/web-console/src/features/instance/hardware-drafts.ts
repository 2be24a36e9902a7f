import type { VmView } from '@headgate/api-contracts';
import { useSyncExternalStore } from 'react';

type Owner = Pick<VmView, 'ref'>;
/** The typed texts by field. */
type Drafts = Readonly<Record<string, string>>;

/** By the ref of the VM, in memory: as long as the page is open. */
const draftsByRef = new Map<string, Drafts>();
const listeners = new Set<() => void>();
const NONE: Drafts = {};

const draftsOf = ({ ref }: Owner): Drafts => draftsByRef.get(ref) ?? NONE;

function replace({ ref }: Owner, drafts: Drafts): void {
  if (Object.keys(drafts).length === 0) draftsByRef.delete(ref);
  else draftsByRef.set(ref, drafts);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const useDrafts = (vm: Owner): Drafts => useSyncExternalStore(subscribe, () => draftsOf(vm));

/** Whether the user has typed something for this VM that is neither applied nor discarded. */
export const useHasDrafts = (vm: Owner): boolean => useDrafts(vm) !== NONE;

/**
 * The text of a box, and its setter. Other tabs and pages don't end it: only applying or discarding does.
 * @param saved the text without a draft
 */
export function useDraft(vm: Owner, field: string, saved = ''): [text: string, setText: (text: string) => void] {
  const text = useDrafts(vm)[field] ?? saved;
  const setText = (next: string): void => {
    if (next === saved) endDrafts(vm, [field]);
    else replace(vm, { ...draftsOf(vm), [field]: next });
  };
  return [text, setText];
}

/** Ends the drafts of these fields, because they were applied. */
export const endDrafts = (vm: Owner, fields: readonly string[]): void =>
  replace(vm, Object.fromEntries(Object.entries(draftsOf(vm)).filter(([field]) => !fields.includes(field))));

export const discardDrafts = (vm: Owner): void => replace(vm, NONE);
