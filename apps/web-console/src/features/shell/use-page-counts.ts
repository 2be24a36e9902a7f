import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../shared/api/request.js';
import { useFleet } from '../../shared/fleet/fleet-provider.js';
import { useImportedImages } from '../../shared/queries/use-imported-images.js';
import { useNodes } from '../../shared/queries/use-nodes.js';
import { useProblemCount } from '../../shared/queries/use-checks.js';

export type CountedPage = 'machines' | 'containers' | 'nodes' | 'images' | 'health';

/** Of the pages that nothing else keeps up to date. */
export const COUNT_REFETCH_MS = 60_000;

/** The number of entries of each page, or of problems; undefined while it is unknown. */
export type PageCounts = Readonly<Record<CountedPage, number | undefined>>;

/** The numbers next to the pages: VMs as they change, everything else once a minute. */
export function usePageCounts(): PageCounts {
  const machines = useFleet(({ phase, entries }) => (phase === 'loading' ? undefined : entries.length));
  const isLoaded = machines !== undefined;
  // The list has priority over numbers next to it.
  const every = { enabled: isLoaded, refetchInterval: COUNT_REFETCH_MS };
  const { data: facets } = useQuery({
    queryKey: ['container-count'],
    queryFn: ({ signal }) => getJson('/api/ext/facets', { query: { kind: 'ct' }, signal }),
    ...every,
  });
  return {
    machines,
    containers: facets?.matched,
    nodes: useNodes(every).data?.length,
    images: useImportedImages(every).data?.images.length,
    health: useProblemCount(every),
  };
}
