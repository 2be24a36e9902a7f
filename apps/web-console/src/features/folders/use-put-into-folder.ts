import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Instance } from '../../shared/instances/instance.js';
import { messageOf } from '../../shared/api/api-error.js';
import { putIntoFolder, takeOutOfFolder } from '../../shared/folders/folder-requests.js';
import { STREAMED_KEYS } from '../../shared/queries/stream-queries.js';
import { useNotify } from '../../shared/ui/notifications.js';
import { OUTSIDE } from './folder-nodes.js';

interface Placement {
  readonly member: Pick<Instance, 'ref' | 'name' | 'folder'>;
  /** The path of a folder that exists, or `OUTSIDE`. */
  readonly target: string;
  /** Whether its form shows the error. */
  readonly hasForm?: true;
}

/** Puts an instance into a folder, or takes it out. It keeps running, so this has no plan but can be undone. */
export function usePutIntoFolder() {
  const notify = useNotify();
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    // A folder that another user has removed is not created again.
    mutationFn: ({ member: { ref }, target }: Placement): Promise<unknown> =>
      target === OUTSIDE ? takeOutOfFolder(ref) : putIntoFolder(ref, target, [target]),
    onSuccess: (_answer, { member, target }) =>
      notify({
        variant: 'success',
        title: target === OUTSIDE ? t`${member.name} is in no folder now` : t`${member.name} is in ${target} now`,
        action: {
          label: t`Undo`,
          run: () => mutate({ member: { ...member, folder: target }, target: member.folder ?? OUTSIDE }),
        },
      }),
    onError: (problem, { member, hasForm }) => {
      if (!hasForm)
        notify({
          variant: 'danger',
          title: t`Couldn't change the folder of ${member.name}`,
          body: messageOf(problem),
        });
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: STREAMED_KEYS.folders }),
  });
  return { put: mutate, error, isPending };
}
