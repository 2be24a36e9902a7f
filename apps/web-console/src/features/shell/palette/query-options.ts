import { t, plural } from '@lingui/core/macro';
import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { Query } from '@headgate/instance-query';
import type { Instance } from '../../../shared/instances/instance.js';
import { NO_FILTERS } from '../../../shared/list/list-filters.js';
import { countLabel } from '../../../shared/list/list-kind.js';
import { listQueryParams } from '../../../shared/list/list-query.js';
import { filterEntries } from '../../../shared/list/list-view.js';
import { parseSearch } from '../../../shared/list/search-query.js';
import { paths } from '../../../shared/location/paths.js';
import type { PaletteOption } from './palette-option.js';

interface QuerySources {
  readonly vms: readonly VmView[];
  readonly containers: readonly ContainerView[];
  readonly navigate: (path: string) => void;
}

interface QueryOptions {
  readonly options: readonly PaletteOption[];
  /** Whether the text is more than words. */
  readonly hasFields: boolean;
  readonly problem?: string;
}

type CountWords = Parameters<typeof countLabel>[0];

/** A text with these is meant as a query. */
const OPERATOR = /[:<>=]/;

/** Offers the lists that a query of the query language finds. */
export function queryOptions(text: string, { vms, containers, navigate }: QuerySources): QueryOptions {
  const { query, problem } = parseSearch(text);
  if (!query) return { options: [], hasFields: true, ...(OPERATOR.test(text) && { problem }) };
  const search = text.trim();
  const params = listQueryParams({ search, filters: NO_FILTERS, sort: 'name', descending: false });
  const show = (path: string, entries: readonly Instance[], words: CountWords): readonly PaletteOption[] => {
    const count = countOf(entries, query);
    if (count === 0) return [];
    const label = t`Show ${countLabel(words, count)}`;
    return [
      { key: `show ${path}`, label, icon: 'search', detail: search, choose: () => navigate(`${path}?${params}`) },
    ];
  };
  return {
    options: [
      ...show(paths.fleet, vms, {
        counted: (count) => plural(count, { one: '# machine', other: '# machines' }),
      }),
      ...show(paths.containers, containers, {
        counted: (count) => plural(count, { one: '# container', other: '# containers' }),
      }),
    ],
    hasFields: query.terms.some(({ type, negated }) => type !== 'word' || negated),
  };
}

const countOf = (entries: readonly Instance[], search: Query): number =>
  filterEntries(entries, { search, filters: NO_FILTERS }).length;
