import type { ReactNode } from 'react';
import { usePeek } from '../list/use-peek.js';
import type { Column } from '../ui/table.js';
import { ResourcePeek } from './resource-peek.js';
import { ResourceTable } from './resource-table.js';

interface ResourceListProps<T> {
  label: string;
  columns: readonly Column[];
  items: readonly T[];
  keyOf: (item: T) => string;
  nameOf: (item: T) => string;
  /** The cells of a row after its name. */
  cells: (item: T) => readonly ReactNode[];
  /** The path of the page, whose address has the item that the panel shows. */
  path: string;
  /** The details of an item in the panel. */
  details: (item: T) => ReactNode;
}

/** A table of resources, with the details of one of them in the panel on the right. */
export function ResourceList<T>({ label, columns, cells, path, details, ...list }: ResourceListProps<T>) {
  const [peeked, peek] = usePeek(path);
  return (
    <>
      <ResourceTable {...list} label={label} columns={columns} cells={cells} peeked={peeked} onPeek={peek} />
      {peeked !== undefined && <ResourcePeek {...list} peeked={peeked} onPeek={peek} render={details} />}
    </>
  );
}
