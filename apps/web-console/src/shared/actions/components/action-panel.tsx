import { t } from '@lingui/core/macro';
import type { PlanView } from '@headgate/api-contracts';
import { useLocation } from 'wouter';
import { useCurrentInstance } from '../../fleet/use-current-instance.js';
import { isVm, statusOf, type Instance } from '../../instances/instance.js';
import { stateWords } from '../../instances/instance-state.js';
import { lastListPath } from '../../location/last-list-path.js';
import { pathOfRef, paths } from '../../location/paths.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { curlOf, sendRequest } from '../api-request.js';
import { actionOf, planState } from '../registry.js';
import { doneSentence, requestOf, type ActionAnswer, type ActionOrder } from '../run-action.js';

interface ActionPanelProps {
  order: ActionOrder;
  onClose: () => void;
  onUndo: (order: ActionOrder) => void;
}

/** The plan of an action on one instance, and its result. */
export function ActionPanel({ order, onClose, onUndo }: ActionPanelProps) {
  const { id, instance } = order;
  const action = actionOf(instance, id);
  const { name } = instance;
  const request = requestOf(order);
  const current = useCurrentInstance(instance);
  const leave = useLeavePage(instance);
  const { inverse } = action;
  const label = t`${action.label} ${name}`;
  return (
    <PlanPanel
      title={label}
      label={label}
      place={t`${instance.namespace} in ${instance.context}`}
      failure={id === 'delete' ? t`Couldn't delete ${name}` : t`${action.label} failed: ${name}`}
      isDanger={action.effect === 'destroys'}
      consequence={id === 'delete' ? undefined : action.consequence}
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<ActionAnswer>(request)}
      confirmation={id === 'delete' ? confirmationOf(current ?? instance) : undefined}
      subject={{ name, state: current ? planState(current) : 'deleted' }}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={() => id === 'delete' && leave()}
      outcome={({ task }) => ({
        title: doneSentence(instance, action),
        task,
        goesOn: id === 'stop' || id === 'restart',
        undo: inverse && (() => onUndo({ id: inverse, instance })),
      })}
    />
  );
}

/** Leaves the page of an instance that was deleted. */
function useLeavePage(instance: Instance): () => void {
  const [path, navigate] = useLocation();
  const page = pathOfRef(instance.ref).replace(/\/overview$/, '');
  return () => {
    if (path === page || path.startsWith(`${page}/`))
      navigate(lastListPath(isVm(instance) ? paths.fleet : paths.containers));
  };
}

/** Why the name has to be typed before a deletion; undefined when a click is enough. */
function confirmationOf(instance: Instance): { text: string; reason: string } | undefined {
  const caution = isVm(instance)
    ? instance.protected
      ? t`This VM is protected against deletion.`
      : instance.running
        ? t`Users of this VM will be disconnected immediately.`
        : undefined
    : statusOf(instance) === 'Stopped'
      ? undefined
      : t`The state of this container: ${stateWords(instance)}`;
  return caution === undefined ? undefined : { text: instance.name, reason: caution };
}
