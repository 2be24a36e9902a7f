/** The parameters of an address, as the query of a route has them. */
export const queryOf = (url: URL): Record<string, string | string[]> =>
  Object.fromEntries([...new Set(url.searchParams.keys())].map((key) => [key, one(url.searchParams.getAll(key))]));

const one = (values: string[]): string | string[] => (values.length === 1 ? (values[0] ?? '') : values);
