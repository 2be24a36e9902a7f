import type { OperationKey, OperationState } from '../model/engine-operation.js';
import type { NodeDrain } from '../model/node-drain.js';
import type { BackgroundWork } from '../model/task.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** Decides which nodes take new instances, and gets instances off a node. Instances of others are never touched. */
export abstract class NodeScheduling {
  /**
   * Cordons a node, so that nothing new is started on it, or uncordons it. What runs there stays.
   * @returns whether the node was changed
   * @throws DomainError NODE_NOT_FOUND, REJECTED_BY_BACKEND when the account of the service may not
   */
  abstract setSchedulable(node: string, isSchedulable: boolean): Promise<boolean>;

  /**
   * How each instance would leave the node. Changes nothing, and does not need a cordoned node.
   * @throws DomainError NODE_NOT_FOUND
   */
  abstract drainOf(node: string): Promise<NodeDrain>;

  /**
   * Gets an instance off a node that is cordoned. A refusal is thrown immediately; the returned work follows it to its
   * end. A VM that fails to migrate stays where it is and runs on.
   * @returns undefined when the instance is not on the node, so that there is nothing to do
   * @throws DomainError NODE_NOT_FOUND when the node is gone; WRONG_STATE when it is not cordoned, or with the reason
   *   why the instance can't leave; BUSY
   */
  abstract leave(ref: InstanceRef, node: string, key: OperationKey): Promise<BackgroundWork | undefined>;

  /** Looks at the departure of an instance that an earlier process began. Changes nothing. */
  abstract stateOf(ref: InstanceRef, node: string, key: OperationKey): Promise<OperationState>;

  /** Follows a departure that is `running` to its end. */
  abstract resume(ref: InstanceRef, node: string, key: OperationKey): Promise<BackgroundWork>;

  /** Ends a departure that is not done: a VM stays where it is, and a container that was stopped is started again. */
  abstract discard(ref: InstanceRef, node: string, key: OperationKey): Promise<void>;
}
