import { useQuery } from '@tanstack/react-query';
import type {
  DestinationsView,
  MoveAcceptedView,
  MoveDto,
  MovePlanView,
  MoveQueueAcceptedView,
  MoveQueuePlanView,
} from '@headgate/api-contracts';
import { getJson, postJson } from '../api/request.js';

/** The contexts, and why some of them receive no VMs. */
export const useDestinations = () =>
  useQuery({
    queryKey: ['move destinations'],
    queryFn: async ({ signal }) => (await getJson<DestinationsView>('/api/move/destinations', { signal })).destinations,
  });

/** The plan of a move; undefined before a destination was chosen. */
export const useMovePlan = (body: MoveDto | undefined) => usePlan<MovePlanView>(body);

/** The plan of a queue of moves. */
export const useQueuePlan = (body: MoveDto | undefined) => usePlan<MoveQueuePlanView>(body);

const usePlan = <P>(body: MoveDto | undefined) =>
  useQuery({
    queryKey: ['move plan', body],
    queryFn: ({ signal }) => postJson<P>('/api/move/preflight', { body, signal }),
    enabled: body !== undefined,
    staleTime: 0,
    gcTime: 0,
  });

export const moveVm = (body: MoveDto): Promise<MoveAcceptedView> => postJson('/api/move', { body });

export const moveQueue = (body: MoveDto): Promise<MoveQueueAcceptedView> => postJson('/api/move', { body });
