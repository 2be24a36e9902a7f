/** The texts, or the entries of a catalog, by their IDs. */
type Texts = Readonly<Record<string, { readonly message?: string; readonly translation?: string }>>;

export function problemsOf(locale: string, texts: Texts, entries: Texts, isSource: boolean): string[];
