import { t } from '@lingui/core/macro';
import type { ContainerView, VmView, WhoamiView } from '@headgate/api-contracts';
import { busyReason } from '../instances/busy.js';
import { isVm, type Instance } from '../instances/instance.js';
import { unavailableForContainers, unavailableReason, type ContextCapabilities } from '../queries/use-capabilities.js';
import { readOnlyReason } from '../queries/use-whoami.js';
import type { Action, ActionId } from './action.js';
import { containerActions } from './container-actions.js';
import { vmActions } from './vm-actions.js';
import { perLanguage } from '../texts/per-language.js';

const ofVms = perLanguage(() => Object.values(vmActions()) as readonly Action[]);
const ofContainers = perLanguage(() => Object.values(containerActions()) as readonly Action[]);

/** All actions on an instance, in the order of its menu. Delete is the last one. */
export const actionsOf = (instance: Instance): readonly Action[] => (isVm(instance) ? ofVms() : ofContainers());

/** @throws Error if instances of this kind do not have the action */
export function actionOf(instance: Instance, id: ActionId): Action {
  const action = actionsOf(instance).find((one) => one.id === id);
  if (!action) throw new Error(`There is no action ${id} for ${instance.ref}.`);
  return action;
}

/** The power action that is most likely in the present state. */
export const likelyAction = (instance: Instance): Action => actionOf(instance, likelyPower(instance));

const likelyPower = (instance: Instance): ActionId =>
  isVm(instance)
    ? instance.status === 'Paused'
      ? 'unpause'
      : instance.running
        ? 'stop'
        : 'start'
    : instance.phase === 'Stopped'
      ? 'start'
      : 'stop';

/** A context may have an ability for VMs only. */
const reasonFor = (instance: Instance) => (isVm(instance) ? unavailableReason : unavailableForContainers);

export interface ActionConditions {
  readonly context?: ContextCapabilities | undefined;
  readonly whoami?: WhoamiView | undefined;
}

/**
 * Why an action is unavailable right now, as a sentence; undefined when the user may try it. These are only the reasons
 * that the page knows without a request. The service decides, and its plan has its own reasons.
 */
export function actionRefusal(
  id: ActionId,
  instance: Instance,
  { context, whoami }: ActionConditions = {},
): string | undefined {
  const action = actionsOf(instance).find((one) => one.id === id);
  return (
    readOnlyReason(whoami) ??
    (instance.stale || context?.up === false ? t`The context ${instance.context} is unreachable.` : undefined) ??
    (action ? reasonFor(instance)(context, action.ability) : t`Not available for containers.`) ??
    busyReason(instance, action?.use) ??
    action?.refusal(instance)
  );
}

/** The part of an entry that the plan of an action depends on. A plan of another state is out of date. */
export const planState = (instance: Instance): string => {
  const { node, cpu, mem, stale, busy } = instance;
  const common = [node, cpu, mem, stale, busy?.task];
  return JSON.stringify([...common, ...(isVm(instance) ? vmState(instance) : containerState(instance))]);
};

const vmState = ({ status, disk, protected: isProtected, isTemplate, liveMigratable }: VmView) => [
  status,
  disk,
  isProtected,
  isTemplate,
  liveMigratable,
];
const containerState = ({ phase, image }: ContainerView) => [phase, image];
