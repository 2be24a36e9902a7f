/** One step of a path: a field, an index, all items, or the items with a given field value. */
type Step = { field: string } | { index: number } | { all: true } | { filter: string[]; equals: string };

const TOKEN =
  /\.?\[\?\(@\.([^=\s]+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\)\]|\[(\d+)\]|\[\*\]|\.\*|\[['"]([^'"]+)['"]\]|\.((?:\\\.|[^.[\]])+)/gy;

const parsed = new Map<string, Step[]>();

/**
 * Evaluates the paths of printer columns and scale: `.spec.replicas`,
 * `.status.conditions[?(@.type=='Ready')].status`, `.metadata.labels.app\.kubernetes\.io/name`.
 * @returns all matching values
 */
export function evaluateJsonPath(value: unknown, path: string): unknown[] {
  let steps = parsed.get(path);
  if (!steps) parsed.set(path, (steps = parseJsonPath(path)));
  let found = [value];
  for (const step of steps) found = found.flatMap((each) => follow(each, step)).filter((each) => each !== undefined);
  return found;
}

/** The fields of a plain path, for writing: `.spec.replicas` → `['spec', 'replicas']`. */
export function plainPath(path: string): string[] {
  return parseJsonPath(path).map((step) => ('field' in step ? step.field : ''));
}

function parseJsonPath(path: string): Step[] {
  const text = path.replace(/^\{|\}$/g, '').replace(/^\$/, '');
  const matches = [...(text.startsWith('.') || text.startsWith('[') ? text : `.${text}`).matchAll(TOKEN)];
  return matches.map(([whole, filter, double, single, bare, index, quoted, field]): Step => {
    if (filter !== undefined) return { filter: filter.split('.'), equals: double ?? single ?? bare ?? '' };
    if (index !== undefined) return { index: Number(index) };
    const name = quoted ?? field?.replaceAll('\\.', '.');
    return name === undefined || whole === '.*' ? { all: true } : { field: name };
  });
}

function follow(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('field' in step) return [(value as Record<string, unknown>)[step.field]];
  if ('index' in step) return Array.isArray(value) ? [value[step.index]] : [];
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if ('all' in step) return children;
  return children.filter((child) => String(evaluatePlain(child, step.filter)) === step.equals);
}

function evaluatePlain(value: unknown, fields: string[]): unknown {
  return fields.reduce<unknown>((at, field) => (at as Record<string, unknown> | null | undefined)?.[field], value);
}
