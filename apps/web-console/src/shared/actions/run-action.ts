import { t } from '@lingui/core/macro';
import type { AcceptedView, StatusView } from '@headgate/api-contracts';
import type { Instance } from '../instances/instance.js';
import type { Action, ActionId } from './action.js';
import type { ApiRequest } from './api-request.js';
import { actionOf } from './registry.js';

/** What the routes of actions return: all of them a status, and some a task that continues the action. */
export type ActionAnswer = Partial<StatusView & AcceptedView>;

/** An action on an instance that the user has requested. */
export interface ActionOrder {
  readonly id: ActionId;
  readonly instance: Instance;
  /** The node that the user chose already, for a migration. */
  readonly target?: string;
}

/** @throws Error for an action for which the user has to choose something first */
export function requestOf({ id, instance }: ActionOrder): ApiRequest {
  const request = actionOf(instance, id).request?.(instance);
  if (!request) throw new Error(`The action ${id} needs a choice first.`);
  return request;
}

/** "web-1 is restarting" */
export const doneSentence = ({ name }: Instance, { done }: Pick<Action, 'done'>): string => t`${name} ${done}`;
