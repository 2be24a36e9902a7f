import { HASHED_FIELDS, type ChainedEntry, type ChainHead } from './chained-entry.js';

/** An entry that was recorded before there was a chain. */
export type UnchainedEntry = Omit<ChainedEntry, 'previousAction' | 'previousRequest' | 'hash'>;

/** The last line of an export. Without it, the export is not complete. */
export interface ExportEnd extends ChainHead {
  /** The number of entries of the export. */
  readonly entries: number;
}

/** One entry as a line of an export. */
export function exportLine(entry: ChainedEntry | UnchainedEntry): string {
  const values: Partial<ChainedEntry> = entry;
  const fields = [...HASHED_FIELDS, 'hash'] as const;
  return `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, values[field]])))}\n`;
}

export const endLine = (end: ExportEnd): string => `${JSON.stringify({ end })}\n`;
