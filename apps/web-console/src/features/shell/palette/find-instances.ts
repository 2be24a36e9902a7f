import type { Instance } from '../../../shared/instances/instance.js';
import { folded, hasLetters, RANK, rankOf } from './text-rank.js';

interface SearchKey {
  readonly name: string;
  /** The namespace and the context. */
  readonly place: string;
}

/** Entries are replaced and never modified, so each is folded once. */
const searchKeys = new WeakMap<Instance, SearchKey>();

function searchKeyOf(entry: Instance): SearchKey {
  let key = searchKeys.get(entry);
  if (key === undefined) {
    key = { name: folded(entry.name), place: folded(`${entry.namespace}\n${entry.context}`) };
    searchKeys.set(entry, key);
  }
  return key;
}

export interface FoundInstances {
  /** The best ones, at most the limit. */
  readonly instances: readonly Instance[];
  /** How many there are without the limit. */
  readonly total: number;
  /** Whether the first one is named or begins like the text. */
  readonly startsLikeName: boolean;
}

const NONE: FoundInstances = { instances: [], total: 0, startsLikeName: false };

/** After the ranks of a whole text: its words are in the name and the place, "web prod". */
const WORDS = RANK.part + 1;

/**
 * Finds instances by name, in one pass: the name is the text, begins with it, has a word that does, contains it, or
 * contains its words, of which some may be in the namespace or the context instead. Only if there are none, the letters
 * of the text are enough. Equally good ones keep their order.
 * @param limit how many to return
 */
export function findInstances(entries: readonly Instance[], text: string, limit: number): FoundInstances {
  const wanted = folded(text.trim());
  if (wanted === '') return NONE;
  const words = wanted.split(/\s+/);
  const found = collect(entries, limit, ({ name, place }) => rankOf(name, wanted) ?? rankOfWords(name, place, words));
  if (found.total > 0 || words.length > 1) return found;
  return collect(entries, limit, ({ name }) => (hasLetters(name, wanted) ? WORDS : undefined));
}

function rankOfWords(name: string, place: string, words: readonly string[]): number | undefined {
  if (words.length === 1) return undefined;
  const isFound = words.every((word) => name.includes(word) || place.includes(word));
  return isFound && words.some((word) => name.includes(word)) ? WORDS : undefined;
}

function collect(
  entries: readonly Instance[],
  limit: number,
  rank: (key: SearchKey) => number | undefined,
): FoundInstances {
  const ranked: Instance[][] = Array.from({ length: WORDS + 1 }, () => []);
  let total = 0;
  for (const entry of entries) {
    const at = rank(searchKeyOf(entry));
    const equals = at === undefined ? undefined : ranked[at];
    if (!equals) continue;
    total++;
    if (equals.length < limit) equals.push(entry);
  }
  const startsLikeName = [RANK.exact, RANK.prefix].some((at) => (ranked[at]?.length ?? 0) > 0);
  return { instances: ranked.flat().slice(0, limit), total, startsLikeName };
}
