export const PAGES = {
  refusals: 'Refusals',
  why: 'Why refused',
  overrides: 'Overrides',
  rules: 'Rules',
  proposal: 'Try a rule',
  journal: 'Journal',
} as const;

export type PageName = keyof typeof PAGES;

/** Where the desk is: the page, and the subject of an explanation. It is the fragment of the URL. */
export interface Address {
  readonly page: PageName;
  readonly subject: string;
}

export function addressOf(hash: string): Address {
  const [name = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const page = Object.hasOwn(PAGES, name) ? (name as PageName) : 'refusals';
  return { page, subject: new URLSearchParams(query).get('subject') ?? '' };
}

export const hashOf = (page: PageName, subject = ''): string =>
  subject === '' ? `#/${page}` : `#/${page}?${new URLSearchParams({ subject }).toString()}`;
