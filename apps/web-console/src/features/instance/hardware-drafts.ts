import { useSyncExternalStore } from 'react';
import type { Instance } from '../../shared/instances/instance.js';

type Owner = Pick<Instance, 'ref'>;

/** The text of a box, and the value that the machine had when it was typed. */
export interface Draft {
  readonly text: string;
  readonly saved: string;
}

/** By the field. */
export type Drafts = Readonly<Record<string, Draft>>;

/** By the ref of the machine. Memory has them as long as the page is open, the storage of the tab after a reload. */
const KEY = 'headgate.hardware-drafts';
const draftsByRef = new Map<string, Drafts>(stored());
const listeners = new Set<() => void>();
const NONE: Drafts = {};

/** Storage may be disabled, or have the drafts of another release. */
function stored(): [string, Drafts][] {
  try {
    const all: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    return typeof all === 'object' && all !== null ? Object.entries(all).filter((entry) => isDrafts(entry[1])) : [];
  } catch {
    return [];
  }
}

// Hoisted, because the storage is read when this module is loaded.
function isDrafts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every(
    (draft: unknown) =>
      typeof draft === 'object' &&
      draft !== null &&
      ['text', 'saved'].every((key) => typeof Reflect.get(draft, key) === 'string'),
  );
}

export const draftsOf = ({ ref }: Owner): Drafts => draftsByRef.get(ref) ?? NONE;

function replace({ ref }: Owner, drafts: Drafts): void {
  if (Object.keys(drafts).length === 0) draftsByRef.delete(ref);
  else draftsByRef.set(ref, drafts);
  for (const listener of listeners) listener();
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(draftsByRef)));
  } catch {
    // Storage may be full or disabled; then the drafts last as long as the page.
    return;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What the user has typed for this machine and neither applied nor discarded. Other tabs and pages don't end it. */
export const useDrafts = (vm: Owner): Drafts => useSyncExternalStore(subscribe, () => draftsOf(vm));

/** Keeps a text, until it is applied or discarded. One that is the same as the present value is no draft. */
export function setDraft(vm: Owner, field: string, text: string, saved = ''): void {
  if (text === saved) endDrafts(vm, [field]);
  else replace(vm, { ...draftsOf(vm), [field]: { text, saved } });
}

/** The text of a box that is not a part of the table, and its setter. */
export function useDraft(vm: Owner, field: string, saved = ''): [text: string, setText: (text: string) => void] {
  const text = useDrafts(vm)[field]?.text ?? saved;
  return [text, (next) => setDraft(vm, field, next, saved)];
}

/** Ends the drafts of these fields, because they were applied or taken back. */
export const endDrafts = (vm: Owner, fields: readonly string[]): void =>
  replace(vm, Object.fromEntries(Object.entries(draftsOf(vm)).filter(([field]) => !fields.includes(field))));

export const discardDrafts = (vm: Owner): void => replace(vm, NONE);
