import { t } from '@lingui/core/macro';
import { memo } from 'react';
import type { Instance } from '../../instances/instance.js';
import { widthOf } from '../fitting-columns.js';
import type { ListKind } from '../list-kind.js';
import type { ListSettings } from '../list-query.js';
import type { Selection } from '../use-selection.js';
import { readableNumber } from '../../texts/formats.js';

export interface ListHeadProps<E extends Instance> {
  kind: ListKind<E>;
  rows: readonly E[];
  shown: readonly string[];
  query: ListSettings;
  onSort: (sort: Pick<ListSettings, 'sort' | 'descending'>) => void;
  selection: Selection<E>;
}

/** The column headings with the sort order, and the check box for all rows. Scrolling does not render them again. */
function Head<E extends Instance>({ kind, rows, shown, query, onSort, selection }: ListHeadProps<E>) {
  const { columns } = kind;
  const { refs } = selection;
  const all = rows.length > 0 && refs.size >= rows.length && rows.every(({ ref }) => refs.has(ref));
  return (
    <div role="rowgroup" className="hg-head" style={{ minWidth: `${widthOf(columns, shown)}rem` }}>
      <div role="row" aria-rowindex={1} className="hg-head-row">
        <div role="columnheader" className="hg-cell hg-cell--select">
          <label>
            <input
              type="checkbox"
              aria-label={t`Select all shown`}
              title={all ? t`Clear selection` : t`Select all ${readableNumber(rows.length)} shown`}
              checked={all}
              ref={(box) => {
                if (box) box.indeterminate = !all && refs.size > 0;
              }}
              onChange={() => (all ? selection.none() : selection.all())}
            />
          </label>
        </div>
        {shown.map((name) => {
          const column = columns[name];
          const sorted = query.sort === name;
          const next = sorted ? !query.descending : column?.numeric === true;
          return (
            <div
              key={name}
              data-column={name}
              role="columnheader"
              className={column?.numeric ? 'hg-cell hg-cell--numeric' : 'hg-cell'}
              aria-sort={sorted ? (query.descending ? 'descending' : 'ascending') : 'none'}
            >
              <button type="button" className="hg-sort" onClick={() => onSort({ sort: name, descending: next })}>
                {column?.label}
                {sorted && <span aria-hidden="true">{query.descending ? '▾' : '▴'}</span>}
              </button>
            </div>
          );
        })}
        <div role="columnheader" className="hg-cell">
          <span className="hg-hidden">{t`Actions`}</span>
        </div>
      </div>
    </div>
  );
}

export const ListHead = memo(Head) as typeof Head;
