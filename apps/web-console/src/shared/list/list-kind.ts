import type { ReactNode } from 'react';
import type { IconName } from '../../icons.js';
import type { InstanceCollection } from '../api/instance-path.js';
import type { Instance } from '../instances/instance.js';
import type { Order } from './list-view.js';

export interface ListColumn<E> {
  readonly label: string;
  readonly order: Order<E>;
  readonly cell: (entry: E) => ReactNode;
  /** The cell as a text, where it is not what rows are ordered by. */
  readonly text?: (entry: E) => string;
  /** In rem. The name has the room that the others leave, and at least this. */
  readonly width: number;
  /** About how many characters a cell shows that is more than a text. */
  readonly length?: (entry: E) => number;
  readonly numeric?: true;
  /** Shown only when somebody chooses it. */
  readonly onDemand?: true;
  /** Where there is no room for all, those with the highest number have it; without a number they are always there. */
  readonly givesWay?: number;
}

/** In the order shown; one of them is `name`. */
export type ListColumns<E> = Readonly<Record<string, ListColumn<E>>>;

/** A button in a row. */
export interface RowAction {
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
  /** Why it can't be had now. */
  readonly reason?: string | undefined;
}

/** What can be done to many at once. */
export interface BulkOperation<E> {
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
  readonly isDanger?: true;
  /** Rarely wanted: offered in the menu instead of the bar. */
  readonly inMenu?: true;
  /** What to know before it is done. */
  readonly warning?: string;
  /** How many there are has to be typed: it can't be taken back. */
  readonly typed?: true;
  /** Why it makes no sense for an entry; undefined when it may be tried. */
  readonly refusal: (entry: E) => string | undefined;
  /** @param text what was asked for; empty when nothing was */
  readonly run: (entry: E, text: string) => Promise<unknown>;
  /** A text that has to be given first. */
  readonly asks?: { readonly label: string; readonly problem: (text: string) => string | undefined };
}

/** What a list is of. */
export interface ListKind<E extends Instance> {
  readonly collection: InstanceCollection;
  readonly title: string;
  /** «1 instance», «2 instances». */
  readonly one: string;
  readonly many: string;
  /** The list's own place. */
  readonly place: string;
  readonly pageOf: (entry: E) => string;
  readonly columns: ListColumns<E>;
}

export const countOf = ({ one, many }: { one: string; many: string }, count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
