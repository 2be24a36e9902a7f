import { useSyncExternalStore } from 'react';
import type { RouterProps } from 'wouter';

// The console's own path and search are in the fragment (`#/vms?q=web`), because the service serves only one page and
// responds with 404 to other paths.
const EVENT = 'headgate:navigate';

const pathAndSearch = (): [path: string, search: string] => {
  const [path = '', search = ''] = location.hash.replace(/^#/, '').split('?', 2);
  return [path === '' ? '/' : path, search];
};

/** The current search, without the `?`. */
export const currentSearch = (): string => pathAndSearch()[1];

function subscribe(listener: () => void): () => void {
  const events = ['hashchange', 'popstate', EVENT];
  for (const event of events) addEventListener(event, listener);
  return () => events.forEach((event) => removeEventListener(event, listener));
}

export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${to}`);
  dispatchEvent(new Event(EVENT));
}

const useHashPath = (): [string, typeof navigate] => [
  useSyncExternalStore(subscribe, () => pathAndSearch()[0]),
  navigate,
];
const useHashSearch = (): string => useSyncExternalStore(subscribe, () => pathAndSearch()[1]);

/** Properties for wouter's `<Router>`. */
export const hashRouting: Omit<RouterProps, 'children'> = {
  hook: Object.assign(useHashPath, { hrefs: (href: string) => `#${href}` }),
  searchHook: useHashSearch,
};
