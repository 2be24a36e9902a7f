import { useContainers, useFleet } from '../../shared/fleet/fleet-provider.js';
import type { FleetState } from '../../shared/fleet/fleet-store.js';
import type { FleetEntry } from '../../shared/fleet/sorted-entries.js';
import { useApprovals } from '../../shared/queries/use-approvals.js';
import { useProblemCount } from '../../shared/queries/use-checks.js';
import { useImportedImages } from '../../shared/queries/use-imported-images.js';
import { useNodes } from '../../shared/queries/use-nodes.js';
import { useFreshness } from '../../shared/queries/stream-queries.js';

export type CountedPage = 'machines' | 'containers' | 'nodes' | 'images' | 'approvals' | 'health';

const POLL_MS = 60_000;

/** The number of entries of each page, or of problems; undefined while it is unknown. */
export type PageCounts = Readonly<Record<CountedPage, number | undefined>>;

const countOf = ({ phase, entries }: FleetState<FleetEntry>): number | undefined =>
  phase === 'loading' ? undefined : entries.length;

/** The number of health checks that did not pass; undefined while it is unknown. */
export function useHealthCount(): number | undefined {
  const isPolled = useFleet(({ phase }) => phase === 'polling' || phase === 'lost');
  return useProblemCount({ isPolled, pollMs: POLL_MS });
}

/**
 * The numbers next to the pages: those that the stream sends as they change, the others when the contexts change, and
 * the approvals when the tab comes to the front.
 */
export function usePageCounts(): PageCounts {
  const machines = useFleet(countOf);
  const containers = useContainers(countOf);
  // The list has priority over numbers next to it.
  const enabled = machines !== undefined;
  const { refetchInterval } = useFreshness(POLL_MS);
  return {
    machines,
    containers,
    nodes: useNodes({ enabled, refetchInterval }).data?.length,
    images: useImportedImages({ enabled, refetchInterval }).data?.images.length,
    // A zero would only be noise.
    approvals: useApprovals({ enabled, refetchInterval }).data?.length || undefined,
    health: useHealthCount(),
  };
}
