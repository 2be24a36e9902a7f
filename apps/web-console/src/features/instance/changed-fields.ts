import type { ChangeView } from '@headgate/api-contracts';

/** A field of the entry, with its values as text. A dash is no value. */
export interface ChangedField {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The fields that a change has, in the order of the entry. */
export function changedFields({ before = {}, after = {} }: Pick<ChangeView, 'before' | 'after'>): ChangedField[] {
  const [one, other] = [before as Values, after as Values];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => ({
    name,
    before: textOf(one[name]),
    after: textOf(other[name]),
  }));
}

function textOf(value: unknown): string {
  if (value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
