import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { recall, remember, useRemembered } from '../../../shared/storage/remembered.js';
import { usePages } from '../use-pages.js';
import { placeOf, storedPlaces, withPlace } from './recent-places.js';

const STORE = 'recent';
const NONE: readonly string[] = [];

/** Records the pages and instances that the user opens, in this browser. */
export function useRecordPlaces(): void {
  const [path] = useLocation();
  const place = placeOf(
    path,
    usePages().map(({ href }) => href),
  );
  useEffect(() => {
    if (place !== undefined) remember(STORE, withPlace(storedPlaces(recall<unknown>(STORE, NONE)), place));
  }, [place]);
}

/** The places that the user has opened, the latest first. */
export const useRecentPlaces = (): readonly string[] => storedPlaces(useRemembered<unknown>(STORE, NONE)[0]);
