import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { places } from '../../shared/location/places.js';
import { readPlace, writePlace, type FleetPlace } from './fleet-place.js';

/** Typing and filtering replace the address, so that «back» leaves the list instead of un-typing it. */
export function useFleetPlace(): [FleetPlace, (change: Partial<FleetPlace>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const place = useMemo(() => readPlace(new URLSearchParams(search)), [search]);
  const change = useCallback(
    (part: Partial<FleetPlace>) => {
      const query = writePlace({ ...place, ...part }).toString();
      navigate(query === '' ? places.fleet : `${places.fleet}?${query}`, { replace: true });
    },
    [place, navigate],
  );
  return [place, change];
}
