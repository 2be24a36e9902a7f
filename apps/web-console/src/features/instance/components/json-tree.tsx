import type { ReactNode } from 'react';

/** JSON as a tree of native `<details>` elements, which work with the keyboard. */
export function JsonTree({ name, value, depth = 0 }: { name?: string; value: unknown; depth?: number }) {
  const key: ReactNode = name !== undefined && <span className="hg-json-key">{name}: </span>;
  if (typeof value !== 'object' || value === null || isEmpty(value)) {
    return (
      <div className="hg-json-leaf" translate="no">
        {key}
        <span className={`hg-json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  return (
    <details open={depth < 4} translate="no">
      <summary>
        {key}
        <span className="hg-note">{Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      {entries.map(([child, item]) => (
        <JsonTree key={child} name={child} value={item} depth={depth + 1} />
      ))}
    </details>
  );
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
