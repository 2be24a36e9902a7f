import type { ComponentType, ReactNode } from 'react';
import type { IconName } from '../../icons.js';
import type { BulkOperation } from '../actions/bulk-operations.js';
import type { InstanceCollection } from '../api/instance-path.js';
import type { Instance } from '../instances/instance.js';
import type { SortKey } from './list-view.js';

export interface ListColumn<E> {
  readonly label: string;
  readonly order: SortKey<E>;
  readonly cell: (entry: E) => ReactNode;
  /** The cell as plain text, if it differs from the sort value. */
  readonly text?: (entry: E) => string;
  /** In rem. For the name column, the minimum; it takes the remaining width. */
  readonly width: number;
  /** The approximate number of characters of a cell that is not plain text. */
  readonly length?: (entry: E) => number;
  readonly numeric?: true;
  /** Its cells are names or addresses, and no texts. */
  readonly isData?: true;
  /** The label of the value in a card; only columns with a place there have one. */
  readonly cardLabel?: string;
  /** Shown only when the user chooses it. */
  readonly hiddenByDefault?: true;
  /**
   * When not all columns fit, the ones with the highest number are shown; columns without a number are always shown.
   */
  readonly keepPriority?: number;
}

/** In display order; one of them is `name`. */
export type ListColumns<E> = Readonly<Record<string, ListColumn<E>>>;

/** An operation on many instances that has a dialog of its own. */
export interface DialogOperation<E> {
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
  readonly isDanger?: true;
  /** Rarely used: offered in the menu instead of the bar. */
  readonly inMenu?: true;
  readonly dialog: ComponentType<{ members: readonly E[]; onClose: () => void }>;
}

export type ListOperation<E extends Instance> = BulkOperation<E> | DialogOperation<E>;

/** A kind of list: the instances it shows and how. */
export interface ListKind<E extends Instance> {
  readonly collection: InstanceCollection;
  readonly title: string;
  /** "1 VM", "2 VMs". */
  readonly counted: (count: number) => string;
  readonly plural: string;
  readonly path: string;
  readonly pageOf: (entry: E) => string;
  readonly columns: ListColumns<E>;
}

export const countLabel = ({ counted }: { counted: (count: number) => string }, count: number): string =>
  counted(count);

/** The sort key of a column; that of the name if there is no such column. */
export const orderOf = <E extends Instance>(columns: ListColumns<E>, sort: string): SortKey<E> =>
  columns[sort]?.order ?? (({ name }) => name);
