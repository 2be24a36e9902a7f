import { useQuery } from '@tanstack/react-query';
import type {
  DestinationsQuery,
  MoveAcceptedView,
  MoveDto,
  MovePlanView,
  MoveQueueAcceptedView,
  MoveQueuePlanView,
} from '@headgate/api-contracts';
import { getJson, postJson } from '../api/request.js';

/** Of the instances that are moved. */
export type MovedKind = NonNullable<DestinationsQuery['kind']>;

/** The contexts, and why some of them receive no instances of the kind. */
export const useDestinations = (kind: MovedKind) =>
  useQuery({
    queryKey: ['move destinations', kind],
    queryFn: async ({ signal }) => (await getJson('/api/move/destinations', { query: { kind }, signal })).destinations,
  });

/** The plan of a move; undefined before a destination was chosen. */
export const useMovePlan = (body: MoveDto | undefined) => usePlan<MovePlanView>(body);

/** The plan of a queue of moves. */
export const useQueuePlan = (body: MoveDto | undefined) => usePlan<MoveQueuePlanView>(body);

const usePlan = <P>(body: MoveDto | undefined) =>
  useQuery({
    queryKey: ['move plan', body],
    queryFn: ({ signal }) => postJson('/api/move/preflight', { body, signal }) as Promise<P>,
    enabled: body !== undefined,
    staleTime: 0,
    gcTime: 0,
  });

// Whether the plan is that of one VM or of a queue depends on the body.
export const moveVm = (body: MoveDto) => postJson('/api/move', { body }) as Promise<MoveAcceptedView>;

export const moveQueue = (body: MoveDto) => postJson('/api/move', { body }) as Promise<MoveQueueAcceptedView>;
