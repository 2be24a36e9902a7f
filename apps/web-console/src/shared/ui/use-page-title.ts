import { useEffect } from 'react';

const SITE = 'Headgate';

/** What the tab is called: the page first, since tabs are narrow. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} - ${SITE}`;
    return () => {
      document.title = SITE;
    };
  }, [title]);
}
