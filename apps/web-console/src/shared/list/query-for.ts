import type { TextField } from '@headgate/instance-query';
import { EMPTY_QUERY, formatQuery, withValues } from '@headgate/instance-query';

/** A query with one value for each of these fields. */
export const queryFor = (values: Readonly<Partial<Record<TextField, string>>>): string =>
  formatQuery(
    (Object.entries(values) as [TextField, string][]).reduce(
      (query, [field, value]) => withValues(query, field, [value]),
      EMPTY_QUERY,
    ),
  );
