import type { SavedViewView, SaveViewDto } from '@headgate/api-contracts';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError } from '../../shared/api/api-error.js';
import { recall, remember } from '../../shared/storage/remembered.js';
import { saveView } from './view-requests.js';

/** The views that earlier releases of the page have stored in this browser. */
const STORE = 'views';
/** The pages that have begun: several components show views. */
const begun = new WeakSet<QueryClient>();

/**
 * Saves the views of this browser with the service, once. Those that it does not take stay in the browser, and are
 * tried again when the page is loaded next.
 * @param known the views of the service; undefined until they are loaded
 * @param onTaken called when views were saved
 */
export function useTakenOverViews(known: readonly SavedViewView[] | undefined, onTaken: () => void): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!known || begun.has(queries)) return;
    begun.add(queries);
    void takeOver(known).then((count) => count > 0 && onTaken());
  }, [known, onTaken, queries]);
}

async function takeOver(known: readonly SavedViewView[]): Promise<number> {
  const own = recall<readonly SaveViewDto[]>(STORE, []);
  if (own.length === 0) return 0;
  const left: SaveViewDto[] = [];
  let taken = 0;
  for (const { name, address, columns } of own) {
    if (known.some((one) => one.name === name)) continue;
    try {
      await saveView({ name, address, columns: columns ? [...columns] : null });
      taken++;
    } catch (error) {
      // Another window takes them over at the same time.
      if (!(error instanceof ApiError && error.code === 'ALREADY_EXISTS')) left.push({ name, address, columns });
    }
  }
  remember(STORE, left);
  return taken;
}
