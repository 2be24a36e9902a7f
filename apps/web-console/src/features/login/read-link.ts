/** Why a login at a provider has failed, as the service says in the address. */
export const FAILURES = ['canceled', 'expired', 'unreachable', 'refused', 'claims'] as const;
export type Failure = (typeof FAILURES)[number];

/** What the address of the page says about a login. */
export interface LoginLink {
  /** Whether the address is that of the login page itself. */
  readonly isLogin: boolean;
  /** The page to return to. */
  readonly page: string;
  readonly first?: string | undefined;
  readonly setup?: string | undefined;
  readonly login: string;
  readonly failure?: Failure | undefined;
  readonly provider: string;
}

/** @param hash with the `#` */
export function readLink(hash: string): LoginLink {
  const address = hash.replace(/^#/, '') || '/';
  const [path = '', query = ''] = address.split('?', 2);
  if (path !== '/login') return { isLogin: false, page: address, login: '', provider: '' };
  const values = new URLSearchParams(query);
  const failed = values.get('failed');
  return {
    isLogin: true,
    page: '/vms',
    first: values.get('first') ?? undefined,
    setup: values.get('setup') ?? undefined,
    login: values.get('login') ?? '',
    failure: FAILURES.find((failure) => failure === failed),
    provider: values.get('provider') ?? '',
  };
}
