import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useCallback, useMemo, useState, type ComponentType, type ReactNode } from 'react';
import { messageOf } from '../../api/api-error.js';
import { isVm, type Instance } from '../../instances/instance.js';
import { useTrackTask } from '../../tasks/track-task.js';
import { useNotify } from '../../ui/notifications.js';
import { needsPlan, type ActionId } from '../action.js';
import { sendRequest } from '../api-request.js';
import { actionOf } from '../registry.js';
import { doneSentence, requestOf, type ActionAnswer, type ActionOrder } from '../run-action.js';
import { useActionRefusal } from '../use-action-refusal.js';
import { ActionsContext } from '../use-actions.js';
import { ActionPanel } from './action-panel.js';
import { MigratePanel } from './migrate-panel.js';

/** The form of an action for which the user has to choose something. */
export type ActionForm = ComponentType<{ vm: VmView; onClose: () => void }>;

/** The same for instances of any kind. */
export type InstanceForm = ComponentType<{ vm: Instance; onClose: () => void }>;

interface ActionsProviderProps {
  /** The forms that belong to features. */
  forms: Readonly<Partial<Record<ActionId, ActionForm>>>;
  /** Those that containers have, too. */
  containerForms: Readonly<Partial<Record<ActionId, InstanceForm>>>;
  children: ReactNode;
}

/** Carries out actions for the whole page, and shows their plans in the panel. */
export function ActionsProvider({ forms, containerForms, children }: ActionsProviderProps) {
  const [open, setOpen] = useState<ActionOrder>();
  const { mutate, isPending, variables } = useDirectAction(setOpen);
  const refusal = useActionRefusal();
  const run = useCallback(
    (order: ActionOrder): void => {
      if (refusal(order.id, order.instance) !== undefined) return;
      const action = actionOf(order.instance, order.id);
      if (needsPlan(action) || !action.request) setOpen(order);
      else mutate(order);
    },
    [mutate, refusal],
  );
  // The list may not have the new state yet, so only the service can refuse it.
  const undo = (order: ActionOrder): void => {
    if (needsPlan(actionOf(order.instance, order.id))) return setOpen(order);
    setOpen(undefined);
    mutate(order);
  };
  const dismiss = useCallback(() => setOpen(undefined), []);
  const running = isPending ? variables : undefined;
  const actions = useMemo(() => ({ run, running, dismiss }), [run, running, dismiss]);
  return (
    <ActionsContext value={actions}>
      {children}
      {open && (
        <OpenAction
          key={`${open.id} ${open.instance.ref}`}
          order={open}
          forms={forms}
          containerForms={containerForms}
          onOpen={setOpen}
          onUndo={undo}
        />
      )}
    </ActionsContext>
  );
}

interface OpenActionProps extends Pick<ActionsProviderProps, 'forms' | 'containerForms'> {
  order: ActionOrder;
  onOpen: (order: ActionOrder | undefined) => void;
  onUndo: (order: ActionOrder) => void;
}

function OpenAction({ order, forms, containerForms, onOpen, onUndo }: OpenActionProps) {
  const { id, instance, target } = order;
  const close = (): void => onOpen(undefined);
  if (id === 'migrate' && isVm(instance)) return <MigratePanel vm={instance} target={target} onClose={close} />;
  const Form = forms[id];
  if (Form && isVm(instance)) return <Form vm={instance} onClose={close} />;
  const ContainerForm = containerForms[id];
  if (ContainerForm && !isVm(instance)) return <ContainerForm vm={instance} onClose={close} />;
  return <ActionPanel order={order} onClose={close} onUndo={onUndo} />;
}

/** Runs one action without a plan and reports the result in a notice. The new state arrives with the fleet. */
function useDirectAction(onPlan: (order: ActionOrder) => void) {
  const notify = useNotify();
  const trackTask = useTrackTask();
  const mutation = useMutation({
    mutationFn: (order: ActionOrder) => sendRequest<ActionAnswer>(requestOf(order)),
    onSuccess: ({ task }, { id, instance }) => {
      const action = actionOf(instance, id);
      if (task !== undefined) trackTask(task);
      const undo = action.inverse && { id: action.inverse, instance };
      notify({
        variant: 'success',
        title: doneSentence(instance, action),
        ...(undo && {
          action: {
            label: t`Undo`,
            run: () => (needsPlan(actionOf(instance, undo.id)) ? onPlan(undo) : mutation.mutate(undo)),
          },
        }),
      });
    },
    onError: (error, { id, instance }) =>
      notify({
        variant: 'danger',
        title: t`${actionOf(instance, id).label} failed: ${instance.name}`,
        body: messageOf(error),
      }),
  });
  return mutation;
}
