import { useQuery } from '@tanstack/react-query';
import type { DestinationsView, MoveAcceptedView, MoveDto, MovePlanView } from '@headgate/api-contracts';
import { getJson, postJson } from '../../../shared/api/request.js';

/** The contexts, and why some of them receive no VMs. */
export const useDestinations = () =>
  useQuery({
    queryKey: ['move destinations'],
    queryFn: async ({ signal }) => (await getJson<DestinationsView>('/api/move/destinations', { signal })).destinations,
  });

/** The plan of a move; undefined before a destination was chosen. */
export const useMovePlan = (body: MoveDto | undefined) =>
  useQuery({
    queryKey: ['move plan', body],
    queryFn: ({ signal }) => postJson<MovePlanView>('/api/move/preflight', { body, signal }),
    enabled: body !== undefined,
    staleTime: 0,
    gcTime: 0,
  });

export const moveVm = (body: MoveDto): Promise<MoveAcceptedView> => postJson('/api/move', { body });
