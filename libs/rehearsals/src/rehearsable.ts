import type { AnyPlan, Caller, Change, Grant, InstanceRef } from '@headgate/domain-contracts';

/** A change with its arguments. */
export interface BoundChange {
  plan(): Promise<AnyPlan>;
  /** @returns the ID of the task that continues it, if there is one */
  run(caller: Caller): Promise<string | undefined>;
}

/**
 * @param taskOf the ID of the task in the result, if there is one
 */
export const bindChange = <Args extends readonly unknown[], Result, Prepared, Shown extends AnyPlan>(
  change: Change<Args, Result, Prepared, Shown>,
  args: Args,
  taskOf: (result: Result) => string | undefined,
): BoundChange => ({
  plan: () => change.plan(...args),
  run: async (caller) => taskOf(await change.run(...args, caller)),
});

/** What an agent asks for, before its targets are known. */
export interface Rehearsable {
  /** The action in words, such as `stop by force`. */
  readonly action: string;
  /** The arguments, with their defaults. */
  readonly request: object;
  /** Whether something is lost that the service can't bring back. */
  readonly isDestructive: boolean;
  /** The folder that the targets are put into, whose members change as well. */
  readonly into?: string;
  /** The instances that the arguments choose at this moment. @throws DomainError */
  choose(caller: Caller): readonly InstanceRef[];
  /** @throws DomainError NOT_PERMITTED for those who may not do it themselves */
  expectAllowed(grant: Grant, refs: readonly InstanceRef[]): void;
  bind(refs: readonly InstanceRef[]): BoundChange;
}
