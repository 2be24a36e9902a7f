import type { AffectedInstance } from './infrastructure.js';
import type { Refusal } from './plan.js';

export const LEAVE_WAYS = ['migrate', 'restart'] as const;
/** The way in which an instance leaves its node. `migrate`: while its guest runs. `restart`: it is stopped before. */
export type LeaveWay = (typeof LEAVE_WAYS)[number];

/** An instance that a drain has to get off its node. */
export interface LeavingInstance extends Omit<AffectedInstance, 'staysDown'> {
  readonly way: LeaveWay;
  /** Why it can't leave the node at the moment. */
  readonly refusal?: Refusal;
  /** What it loses on the way, each a sentence. */
  readonly losses: readonly string[];
}

/** The work of a drain, before it is known which nodes have room. */
export interface NodeDrain {
  /** The largest number of virtual CPUs for each CPU of a node. */
  readonly cpusPerCpu: number;
  /** Those of this service that are on the node. */
  readonly instances: readonly LeavingInstance[];
  /** The number of pods on the node that are not of this service and not of a DaemonSet. They stay. */
  readonly others: number;
  /** Conditions that were not checked for any of them, each a sentence. */
  readonly unchecked: readonly string[];
}
