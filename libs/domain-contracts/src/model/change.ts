import type { Caller } from './caller.js';
import type { Plan } from './plan.js';

/** A use case that changes something. It can be rehearsed, and it has an author. */
export abstract class Change<Args extends readonly unknown[], Result = void> {
  /**
   * The steps that `run` would take with the same arguments; changes nothing.
   * @throws DomainError the errors that `run` throws before it changes anything
   */
  abstract plan(...args: Args): Promise<Plan>;

  abstract run(...args: [...args: Args, caller: Caller]): Promise<Result>;
}
