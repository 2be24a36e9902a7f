import type { KubeObject } from '../kube-object.js';
import type { PrinterColumn } from '../resource-definition.js';
import { age } from '../table/human-duration.js';

type Cell<T> = (object: T, nowMs: number) => string | number | boolean | null;

/** A computed column of a built-in kind. */
export function column<T extends KubeObject>(name: string, cell: Cell<T>, priority = 0): PrinterColumn {
  return { name, type: 'string', priority, cell: cell as unknown as PrinterColumn['cell'] };
}

export const ageColumn: PrinterColumn = column('Age', ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs));

/** The text that kubectl prints for an empty cell. */
export const NONE = '<none>';
