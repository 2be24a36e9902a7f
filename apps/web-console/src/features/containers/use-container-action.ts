import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ContainerView } from '@headgate/api-contracts';
import { messageOf } from '../../shared/api/api-error.js';
import { useNotify } from '../../shared/ui/notifications.js';
import { runContainerAction, type ContainerAction } from './api/run-container-action.js';
import { CONTAINERS_KEY } from './api/use-containers.js';

export function useContainerAction() {
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ ct, action }: { ct: ContainerView; action: ContainerAction }) => runContainerAction(ct, action),
    onSuccess: (_answer, { ct, action }) =>
      notify({ variant: 'success', title: `${ct.name} ${action === 'start' ? 'is starting' : 'is stopping'}` }),
    onError: (error, { ct, action }) =>
      notify({ variant: 'danger', title: `${ct.name} did not ${action}`, body: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: CONTAINERS_KEY }),
  });
}

/** Why a container can't be started or stopped right now; undefined when it can. */
export function containerRefusal(ct: ContainerView, action: ContainerAction): string | undefined {
  if (ct.stale) return `The context ${ct.context} can't be reached.`;
  if (action === 'start') return ct.phase === 'Stopped' ? undefined : 'It is not stopped.';
  return ct.phase === 'Stopped' ? 'It is stopped already.' : undefined;
}
