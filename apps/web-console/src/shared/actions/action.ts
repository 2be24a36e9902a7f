import type { BulkRequest } from '../bulk/bulk-request.js';
import type { IconName } from '../../icons.js';
import type { Instance } from '../instances/instance.js';
import type { ApiRequest } from './api-request.js';

export type ActionId =
  | 'start'
  | 'stop'
  | 'restart'
  | 'pause'
  | 'unpause'
  | 'force-stop'
  | 'migrate'
  | 'move'
  | 'clone'
  | 'snapshot'
  | 'tag'
  | 'untag'
  | 'folder'
  | 'unfolder'
  | 'delete';

/** What an action does to the users of an instance. */
export type ActionEffect = 'none' | 'interrupts' | 'destroys';

/** An action on an instance: everything that buttons, menus, keys, plans and bulk operations need to know about it. */
export interface Action<E extends Instance = Instance> {
  readonly id: ActionId;
  readonly label: string;
  readonly icon: IconName;
  /** The key that runs it on the row or the page. */
  readonly key?: string;
  /** Every action that interrupts or destroys shows its plan first. */
  readonly effect: ActionEffect;
  /** The ability that its context needs. */
  readonly ability: string;
  /** Why the state of the instance does not allow it; undefined when the user may try it. The service decides. */
  readonly refusal: (instance: E) => string | undefined;
  /** How it uses the disks of the instance. `copy` may run next to another copy. */
  readonly use?: 'copy';
  /** The request; absent when the user has to choose first. With `dryRun`, the service answers with the plan. */
  readonly request?: (instance: E) => ApiRequest;
  /** What happens to the instance once the action was accepted, after its name. */
  readonly done: string;
  /** What it means for the users of the guest. Every action that interrupts or destroys has it. */
  readonly consequence?: string;
  /** The action that undoes it. */
  readonly inverse?: ActionId;
  /** The same on several instances. */
  readonly bulk?: BulkAction;
}

/** How an action is offered for several instances at the same time. */
export interface BulkAction {
  /** @param text the user's input; empty without `input` */
  readonly request: (text: string) => BulkRequest;
  /** A warning that is shown before it runs. */
  readonly warning?: string;
  /** Rarely used: offered in the menu instead of the bar. */
  readonly inMenu?: true;
  /** Connects the label with the number of instances on the button: "Add tag" `to` "2 VMs". */
  readonly submit?: (count: string) => string;
  /** A text that the user has to enter first. */
  readonly input?: BulkInput;
  /** The action that undoes it, with the same text. */
  readonly inverse?: ActionId;
  /**
   * The action that undoes it for instances that were like this before, where the same text does not do so; undefined
   * when one action can't undo all of them.
   */
  readonly undo?: (before: readonly Instance[]) => BulkUndo | undefined;
}

export interface BulkInput {
  readonly label: string;
  /** A folder is chosen from the existing ones, and any other text is typed. */
  readonly type: 'text' | 'folder';
  readonly problem: (text: string) => string | undefined;
}

/** An action that undoes another one, with its text. */
export interface BulkUndo {
  readonly action: ActionId;
  readonly text: string;
}

export const needsPlan = ({ effect }: Pick<Action, 'effect'>): boolean => effect !== 'none';
