import { t } from '@lingui/core/macro';
import { statusOf, type Instance } from '../instances/instance.js';
import { perLanguage } from '../texts/per-language.js';

interface Filter {
  readonly label: string;
  readonly values: (entry: Instance) => readonly string[];
  /** Whether an entry must have all chosen values instead of any of them. */
  readonly all?: true;
}

export const FILTER_NAMES = ['status', 'context', 'namespace', 'folder', 'node', 'tag'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** The filters of a list. Their names are also the names in the address. */
export const allFilters = perLanguage((): Readonly<Record<FilterName, Filter>> => ({
  status: { label: t`Status`, values: (entry) => [statusOf(entry)] },
  context: { label: t`Context`, values: ({ context }) => [context] },
  namespace: { label: t`Namespace`, values: ({ namespace }) => [namespace] },
  folder: { label: t`Folder`, values: ({ folder }) => (folder ? [folder] : []) },
  node: { label: t`Node`, values: ({ node }) => (node ? [node] : []) },
  tag: { label: t`Tags`, values: ({ tags }) => tags, all: true },
}));

export type Filters = Readonly<Record<FilterName, readonly string[]>>;

export const NO_FILTERS: Filters = { status: [], context: [], namespace: [], folder: [], node: [], tag: [] };

/** A predicate for the active filters; undefined when none is active. */
export function filterTest(filters: Filters): ((entry: Instance) => boolean) | undefined {
  const active = FILTER_NAMES.filter((name) => filters[name].length > 0).map((name) => {
    const { values, all } = allFilters()[name];
    const chosen = filters[name];
    return (entry: Instance): boolean => {
      const own = values(entry);
      return all ? chosen.every((value) => own.includes(value)) : own.some((value) => chosen.includes(value));
    };
  });
  return active.length === 0 ? undefined : (entry) => active.every((test) => test(entry));
}
