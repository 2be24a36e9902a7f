import type { FleetStore } from './fleet-store.js';
import type { FleetEntry } from './sorted-entries.js';

/** More rows than fit on a screen. */
const MAX_ROWS = 60;

/** The address of the first rows of a list by name. index.html preloads that of the VMs. */
export const firstRowsAddress = (path: string): string => `${path}?sort=name&limit=${MAX_ROWS}`;

/**
 * Loads the first rows of a list, which arrive long before all of a large fleet. Errors are left to the stream of the
 * list.
 */
export async function loadFirstRows<E extends FleetEntry>(
  store: Pick<FleetStore<E>, 'preview'>,
  path: string,
): Promise<void> {
  try {
    const response = await fetch(firstRowsAddress(path));
    if (response.ok) store.preview((await response.json()) as E[]);
  } catch {
    // The stream reports why the service does not respond.
  }
}
