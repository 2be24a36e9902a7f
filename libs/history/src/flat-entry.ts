import type { Instance } from '@headgate/domain-contracts';
import type { RecordedEntry } from './recorded.js';

/** The fields of an entry by their names. Those that are not of its instance begin with "@". */
export type FlatEntry = Readonly<Record<string, unknown>>;

/** The fields that have changed, and the names of those that are gone. */
export interface Delta {
  readonly set: FlatEntry;
  readonly unset: readonly string[];
}

export function flatten({ instance, stale, folder, busy }: RecordedEntry): FlatEntry {
  const flat: Record<string, unknown> = { ...instance };
  if (folder !== undefined) flat['@folder'] = folder;
  if (stale) flat['@stale'] = true;
  if (busy) flat['@busy'] = busy;
  return flat;
}

export function unflatten(flat: FlatEntry): RecordedEntry {
  const { '@folder': folder, '@stale': stale, '@busy': busy } = flat;
  const instance: Record<string, unknown> = {};
  for (const name in flat) if (!name.startsWith('@') && flat[name] !== undefined) instance[name] = flat[name];
  return {
    instance: instance as unknown as Instance,
    stale: stale === true,
    ...(folder === undefined ? {} : { folder: folder as string }),
    ...(busy === undefined ? {} : { busy: busy as NonNullable<RecordedEntry['busy']> }),
  };
}

/** @returns undefined for equal entries; an undefined field is the same as none */
export function deltaOf(before: FlatEntry, after: FlatEntry): Delta | undefined {
  const set: Record<string, unknown> = {};
  const unset: string[] = [];
  let isEqual = true;
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined || isSame(before[name], value)) continue;
    set[name] = value;
    isEqual = false;
  }
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined || after[name] !== undefined) continue;
    unset.push(name);
    isEqual = false;
  }
  return isEqual ? undefined : { set, unset };
}

/** Fields that are gone stay as undefined ones, because an object that loses fields becomes slow. */
export function applyDelta(flat: Record<string, unknown>, set: FlatEntry, unset: readonly string[] = []): void {
  for (const name in set) flat[name] = set[name];
  for (const name of unset) flat[name] = undefined;
}

/** The values are those of JSON. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
