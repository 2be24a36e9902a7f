import { statusOf, type Instance } from '../instances/instance.js';

interface Filter {
  readonly label: string;
  readonly values: (entry: Instance) => readonly string[];
  /** Whether an entry must have all chosen values instead of any of them. */
  readonly all?: true;
}

export const FILTER_NAMES = ['status', 'context', 'namespace', 'folder', 'node', 'tag'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** The filters of a list. Their names are also the names in the address. */
export const FILTERS: Readonly<Record<FilterName, Filter>> = {
  status: { label: 'Status', values: (entry) => [statusOf(entry)] },
  context: { label: 'Context', values: ({ context }) => [context] },
  namespace: { label: 'Namespace', values: ({ namespace }) => [namespace] },
  folder: { label: 'Folder', values: ({ folder }) => (folder ? [folder] : []) },
  node: { label: 'Node', values: ({ node }) => (node ? [node] : []) },
  tag: { label: 'Tags', values: ({ tags }) => tags, all: true },
};

export type Filters = Readonly<Record<FilterName, readonly string[]>>;

export const NO_FILTERS: Filters = { status: [], context: [], namespace: [], folder: [], node: [], tag: [] };

/** A predicate for the active filters; undefined when none is active. */
export function filterTest(filters: Filters): ((entry: Instance) => boolean) | undefined {
  const active = FILTER_NAMES.filter((name) => filters[name].length > 0).map((name) => {
    const { values, all } = FILTERS[name];
    const chosen = filters[name];
    return (entry: Instance): boolean => {
      const own = values(entry);
      return all ? chosen.every((value) => own.includes(value)) : own.some((value) => chosen.includes(value));
    };
  });
  return active.length === 0 ? undefined : (entry) => active.every((test) => test(entry));
}
