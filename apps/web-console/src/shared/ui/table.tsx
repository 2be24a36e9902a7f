import type { ReactNode } from 'react';

/** The header of a column. Numbers are aligned to the right; their cells have the class `hg-numeric` as well. */
export type Column = string | { readonly label: string; readonly isNumeric: true };

export const numeric = (label: string): Column => ({ label, isNumeric: true });

interface TableProps {
  label: string;
  columns: readonly Column[];
  /** It may scroll sideways, and has nothing else that takes the focus. */
  isWide?: boolean;
  className?: string;
  /** The rows. */
  children: ReactNode;
}

/** A table in a frame, with a row of headers. */
export function Table({ label, columns, className = '', isWide = false, children }: TableProps) {
  // In a narrow window each cell has its label next to it.
  const labels = columns.map((column, index) => [
    `--hg-column-${index + 1}`,
    JSON.stringify(typeof column === 'string' ? column : column.label),
  ]);
  return (
    <div
      className={`hg-list ${className}`.trim()}
      {...(isWide && { tabIndex: 0, role: 'region', 'aria-label': label })}
    >
      <table aria-label={label} style={Object.fromEntries(labels)}>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.label} scope="col" className="hg-numeric">
                  {column.label}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
