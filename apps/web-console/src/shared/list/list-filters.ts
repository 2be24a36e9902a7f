import { statusOf, type Instance } from '../instances/instance.js';

interface Filter {
  readonly label: string;
  readonly values: (entry: Instance) => readonly string[];
  /** All chosen values are demanded, instead of any of them. */
  readonly all?: true;
}

export const FILTER_NAMES = ['status', 'context', 'namespace', 'node', 'tag'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** What a list can be narrowed to. The names are those in the address. */
export const FILTERS: Readonly<Record<FilterName, Filter>> = {
  status: { label: 'Status', values: (entry) => [statusOf(entry)] },
  context: { label: 'Context', values: ({ context }) => [context] },
  namespace: { label: 'Namespace', values: ({ namespace }) => [namespace] },
  node: { label: 'Node', values: ({ node }) => (node ? [node] : []) },
  tag: { label: 'Tags', values: ({ tags }) => tags, all: true },
};

export type Filters = Readonly<Record<FilterName, readonly string[]>>;

export const NO_FILTERS: Filters = { status: [], context: [], namespace: [], node: [], tag: [] };

/** A test for the filters that are set; undefined when none is. */
export function filterTest(filters: Filters): ((entry: Instance) => boolean) | undefined {
  const set = FILTER_NAMES.filter((name) => filters[name].length > 0).map((name) => {
    const { values, all } = FILTERS[name];
    const chosen = filters[name];
    return (entry: Instance): boolean => {
      const own = values(entry);
      return all ? chosen.every((value) => own.includes(value)) : own.some((value) => chosen.includes(value));
    };
  });
  return set.length === 0 ? undefined : (entry) => set.every((test) => test(entry));
}
