import type { ReactNode } from 'react';

interface TableProps {
  label: string;
  columns: readonly string[];
  className?: string;
  /** The rows. */
  children: ReactNode;
}

/** A table in a frame, with a row of headers. */
export function Table({ label, columns, className = '', children }: TableProps) {
  return (
    <div className={`hg-list ${className}`.trim()}>
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
