import type { VmView } from '@headgate/api-contracts';
import { byText, countable } from './countable.js';
import { COLUMN } from './fleet-columns.js';
import type { FleetPlace } from './fleet-place.js';

/** What a search looks through. Entries are replaced, never changed, so the text is made once per entry. */
const searchable = new WeakMap<VmView, string>();

function textOf(vm: VmView): string {
  let text = searchable.get(vm);
  if (text === undefined) {
    text = [vm.name, vm.namespace, vm.status, vm.context, vm.node, vm.ip, ...vm.tags].join('\n').toLowerCase();
    searchable.set(vm, text);
  }
  return text;
}

/** The entries that match the search (all words, anywhere) and every filter, in the order asked for. */
export function viewFleet(entries: readonly VmView[], place: FleetPlace): VmView[] {
  return sortFleet(filterFleet(entries, place), place);
}

export function filterFleet(entries: readonly VmView[], place: Omit<FleetPlace, 'sort' | 'descending'>): VmView[] {
  const words = place.search.toLowerCase().split(/\s+/).filter(Boolean);
  const { statuses, contexts, tags } = place;
  return entries.filter(
    (vm) =>
      (statuses.length === 0 || statuses.includes(vm.status)) &&
      (contexts.length === 0 || contexts.includes(vm.context)) &&
      (tags.length === 0 || tags.every((tag) => vm.tags.includes(tag))) &&
      words.every((word) => textOf(vm).includes(word)),
  );
}

/** Empty values come last in either direction; equals are ordered by name, namespace and context. */
export function sortFleet(
  entries: readonly VmView[],
  { sort, descending }: Pick<FleetPlace, 'sort' | 'descending'>,
): VmView[] {
  const { order } = COLUMN[sort];
  const keyed = entries.map((vm) => {
    const key = order(vm);
    return { vm, key: typeof key === 'number' ? key : countable(key) };
  });
  const direction = descending ? -1 : 1;
  keyed.sort((a, b) => {
    const empty = Number(a.key === '') - Number(b.key === '');
    return empty || direction * compareKeys(a.key, b.key) || byIdentity(a.vm, b.vm);
  });
  return keyed.map(({ vm }) => vm);
}

const compareKeys = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : byText(String(a), String(b));

const compare = (a: string, b: string): number => byText(countable(a), countable(b));

const byIdentity = (a: VmView, b: VmView): number =>
  compare(a.name, b.name) || compare(a.namespace, b.namespace) || compare(a.context, b.context);

/** How many entries carry each value, the most frequent first. */
export function tally(values: Iterable<string>): readonly { readonly value: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compare(a.value, b.value));
}
