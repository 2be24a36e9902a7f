import { useQuery } from '@tanstack/react-query';
import type { WhoamiView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';

export const useWhoami = () =>
  useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => getJson<WhoamiView>('/api/whoami', { signal }),
    refetchInterval: 60_000,
  });

/** Why this person may change nothing; undefined when he may. */
export const readOnlyReason = (whoami: WhoamiView | undefined): string | undefined =>
  whoami?.enforced && !whoami.admin ? 'Only administrators may do this. You may look.' : undefined;
