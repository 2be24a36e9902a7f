import type { MouseEvent, ReactNode } from 'react';
import { Table, type Column } from '../ui/table.js';

interface ResourceTableProps<T> {
  label: string;
  columns: readonly Column[];
  items: readonly T[];
  keyOf: (item: T) => string;
  nameOf: (item: T) => string;
  /** The cells after the name. */
  cells: (item: T) => readonly ReactNode[];
  /** The key of the item that is peeked at. */
  peeked: string | undefined;
  onPeek: (key: string | undefined) => void;
}

/** A list of things that have no page of their own: a click shows the details of a row, another one hides them. */
export function ResourceTable<T>(props: ResourceTableProps<T>) {
  const { label, columns, items, keyOf, nameOf, cells, peeked, onPeek } = props;
  const isNumeric = (index: number): boolean => typeof columns[index] === 'object';
  const onRow = (event: MouseEvent, key: string): void => {
    // Links and buttons of a row have a meaning of their own.
    if (event.target instanceof Element && event.target.closest('a, button')) return;
    onPeek(key);
  };
  return (
    <Table label={label} columns={columns} className="hg-resources">
      {items.map((item) => {
        const key = keyOf(item);
        const isPeeked = key === peeked;
        return (
          <tr key={key} className={isPeeked ? 'hg-resource--peeked' : undefined} onClick={(event) => onRow(event, key)}>
            <td>
              <button
                type="button"
                className="hg-resource-name"
                translate="no"
                aria-pressed={isPeeked}
                onClick={() => onPeek(isPeeked ? undefined : key)}
              >
                {nameOf(item)}
              </button>
            </td>
            {cells(item).map((cell, index) => (
              <td key={index} className={isNumeric(index + 1) ? 'hg-numeric' : undefined}>
                {cell}
              </td>
            ))}
          </tr>
        );
      })}
    </Table>
  );
}
