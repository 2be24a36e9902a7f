import type { Caller } from './caller.js';
import type { AnyPlan, Plan } from './plan.js';

/**
 * A use case that changes something. It can be rehearsed, and it has an author. Its plan may contain more than the
 * steps, and refusals of other kinds.
 */
export abstract class Change<
  Args extends readonly unknown[],
  Result = void,
  Prepared = Args,
  Shown extends AnyPlan = Plan,
> {
  /**
   * The steps that `run` would take with the same arguments; changes nothing.
   * @throws DomainError the errors that `run` throws before it changes anything
   */
  async plan(...args: Args): Promise<Shown> {
    return this.planPrepared(await this.prepare(...args));
  }

  async run(...args: [...args: Args, caller: Caller]): Promise<Result> {
    const caller = args.at(-1) as Caller;
    return this.runPrepared(await this.prepare(...(args.slice(0, -1) as unknown as Args)), caller);
  }

  /**
   * Finds and checks what both the plan and the change need. Changes nothing.
   * @throws DomainError why the change is impossible, whatever else goes on
   */
  protected abstract prepare(...args: Args): Prepared | Promise<Prepared>;

  protected abstract planPrepared(prepared: Prepared): Promise<Shown>;

  /** What `prepare` has found may have changed since, if the change waits for a reservation. */
  protected abstract runPrepared(prepared: Prepared, caller: Caller): Promise<Result>;
}
