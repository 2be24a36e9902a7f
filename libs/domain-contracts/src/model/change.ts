import type { Caller } from '../values/caller.js';
import type { Plan } from './plan.js';

/** A use case that changes something: it can be rehearsed, and it has an author. */
export abstract class Change<Args extends readonly unknown[], Result = void> {
  /**
   * What `run` would do with the same arguments; changes nothing.
   * @throws DomainError what `run` would refuse before it changes anything
   */
  abstract plan(...args: Args): Promise<Plan>;

  abstract run(...args: [...args: Args, caller: Caller]): Promise<Result>;
}
