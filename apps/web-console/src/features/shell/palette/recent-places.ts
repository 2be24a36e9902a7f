import type { ContainerView, VmView } from '@headgate/api-contracts';
import { entryAt } from '../../../shared/fleet/fleet-provider.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { addressOf } from '../../../shared/location/paths.js';

/** How many places are kept. Some do not exist any more. */
export const MOST_PLACES = 16;

const INSTANCE = /^\/(vms|containers)\/([^/]+)\/([^/]+)\/([^/]+)/;

/**
 * The place of a path: the path of a page, or of an instance without its tab.
 * @param pages the paths of all pages
 * @returns undefined for a path that is none, such as that of a task
 */
export function placeOf(path: string, pages: readonly string[]): string | undefined {
  const [instance] = INSTANCE.exec(path) ?? [];
  return instance ?? pages.find((page) => page === path);
}

/** The places after a visit, the latest first. */
export const withPlace = (places: readonly string[], place: string): string[] =>
  [place, ...places.filter((one) => one !== place)].slice(0, MOST_PLACES);

/** The places in the storage, which anything may have written. */
export const storedPlaces = (stored: unknown): readonly string[] =>
  Array.isArray(stored) ? stored.filter((place) => typeof place === 'string') : [];

/** The instance of a place; undefined when it is a page, or when the instance does not exist any more. */
export function instanceAt(
  place: string,
  { vms, containers }: { readonly vms: readonly VmView[]; readonly containers: readonly ContainerView[] },
): Instance | undefined {
  const [, list, context, namespace, name] = INSTANCE.exec(place) ?? [];
  if (list === undefined) return undefined;
  const address = addressOf({ context, namespace, name });
  return list === 'vms' ? entryAt(vms, address) : entryAt(containers, address);
}
