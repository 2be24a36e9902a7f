import { useSyncExternalStore } from 'react';
import type { RouterProps } from 'wouter';

/**
 * The place in the console lives behind the `#`, search included (`#/vms?q=web`): the service serves one page, and any
 * other path of it is 404.
 */
const EVENT = 'headgate:navigate';

const place = (): [path: string, search: string] => {
  const [path = '', search = ''] = location.hash.replace(/^#/, '').split('?', 2);
  return [path === '' ? '/' : path, search];
};

/** What stands behind the `?` right now. */
export const currentSearch = (): string => place()[1];

function subscribe(listener: () => void): () => void {
  const events = ['hashchange', 'popstate', EVENT];
  for (const event of events) addEventListener(event, listener);
  return () => events.forEach((event) => removeEventListener(event, listener));
}

export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${to}`);
  dispatchEvent(new Event(EVENT));
}

const useHashPath = (): [string, typeof navigate] => [useSyncExternalStore(subscribe, () => place()[0]), navigate];
const useHashSearch = (): string => useSyncExternalStore(subscribe, () => place()[1]);

/** Properties of wouter's `<Router>`. */
export const hashRouting: Omit<RouterProps, 'children'> = {
  hook: Object.assign(useHashPath, { hrefs: (href: string) => `#${href}` }),
  searchHook: useHashSearch,
};
