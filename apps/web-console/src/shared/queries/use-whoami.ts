import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import type { WhoamiView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';
import { useFreshness } from './stream-queries.js';

export const useWhoami = () =>
  useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => getJson('/api/whoami', { signal }),
    ...useFreshness(60_000),
  });

/** Whether the user may manage the service itself. Roles in folders are not enough. */
export const isAdministrator = (whoami: WhoamiView | undefined): boolean =>
  whoami !== undefined && whoami.admin && whoami.roles === undefined;

/** Why the user can't change anything; undefined when they can. */
export const readOnlyReason = (whoami: WhoamiView | undefined): string | undefined =>
  whoami?.enforced && !whoami.admin ? t`Only administrators can do this. You have view-only access.` : undefined;
