import { useEffect } from 'react';

const SITE = 'Headgate';

/** Sets the title of the browser tab: the page first, because tabs are narrow. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} - ${SITE}`;
    return () => {
      document.title = SITE;
    };
  }, [title]);
}
