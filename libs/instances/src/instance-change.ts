import {
  Change,
  DomainError,
  formatRef,
  withAbility,
  workOn,
  type AbilityName,
  type Audit,
  type Caller,
  type FoundInstance,
  type Instance,
  type InstanceQuery,
  type InstanceSources,
  type Operation,
  type Plan,
  type RehearsedWork,
  type Reservation,
  type Reservations,
  type Work,
} from '@headgate/domain-contracts';
import { findChangeable } from './find-changeable.js';

export interface InstanceChangeDeps extends InstanceSources {
  readonly audit: Audit;
  readonly reservations: Reservations;
}

type Attempt<K extends AbilityName> = { readonly found: FoundInstance<K> } | { readonly error: unknown };

/** The instance of a change, as it was before the reservation. */
export interface Target<Params extends readonly unknown[]> {
  readonly instance: Instance;
  readonly params: Params;
}

/** What a change acts with: its caller, and its reservation, which a task may take over. */
export interface Permit {
  readonly caller: Caller;
  readonly reservation: Reservation;
}

/**
 * A change of one instance. It is planned, reserved and recorded here. A subclass says which ability carries it out,
 * and how. With the reservation, the instance is found again: it may have been changed, deleted or replaced while the
 * request waited.
 */
export abstract class InstanceChange<
  K extends AbilityName,
  Args extends readonly unknown[] = [],
  Result = void,
  Params extends readonly unknown[] = Args,
> extends Change<[query: InstanceQuery, ...args: Args], Result, Target<Params>> {
  /** The ability of the backend that carries it out. */
  protected abstract readonly ability: K;

  constructor(protected readonly deps: InstanceChangeDeps) {
    super();
  }

  protected abstract operationOf(...params: Params): Operation;

  /** The action in the audit log. */
  protected abstract actionOf(...params: Params): string;

  protected abstract planOn(found: FoundInstance<K>, ...params: Params): Promise<Plan>;

  protected abstract runOn(found: FoundInstance<K>, permit: Permit, ...params: Params): Promise<Result>;

  /** The arguments with their defaults. Called once, before the reservation. @throws DomainError */
  protected paramsOf(_instance: Instance, ...args: Args): Params {
    return args as unknown as Params;
  }

  protected workOf({ ref }: Instance, ...params: Params): Work {
    return workOn(this.operationOf(...params), ref);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND; BUSY while it is being deleted, unless that does not matter */
  protected locate(query: InstanceQuery): Instance {
    return findChangeable(this.deps.directory, query);
  }

  /** Checks the state of the instance, with the reservation. @throws DomainError WRONG_STATE and others */
  protected check(_instance: Instance, ..._params: Params): void {
    // Most changes leave that to the backend.
  }

  /** The message of a success in the audit log. */
  protected describe(_result: Result): string {
    return '';
  }

  /**
   * Waits until the read model shows the change, so that the caller can read it back. The change has its audit entry
   * already.
   */
  protected async settle(_found: FoundInstance<K>, result: Result, ..._params: Params): Promise<Result> {
    return result;
  }

  protected override prepare(query: InstanceQuery, ...args: Args): Target<Params> {
    const instance = this.locate(query);
    return { instance, params: this.paramsOf(instance, ...args) };
  }

  protected override planPrepared({ instance, params }: Target<Params>): Promise<Plan> {
    return this.deps.reservations.plan(this.workOf(instance, ...params), async () => {
      const attempt = this.attempt(instance, params);
      if ('error' in attempt) throw attempt.error;
      return this.planOn(attempt.found, ...params);
    });
  }

  protected override runPrepared({ instance: known, params }: Target<Params>, caller: Caller): Promise<Result> {
    const { audit, reservations } = this.deps;
    const { ref, uid } = known;
    return reservations.during(this.workOf(known, ...params), async (reservation) => {
      const instance = this.locate({ ...ref, uid });
      const attempt = this.attempt(instance, params);
      if (caller.rehearsed) await this.expectRehearsed(instance, attempt, params, caller.rehearsed);
      const { found, result } = await audit.of(
        caller,
        this.actionOf(...params),
        ref,
        async () => {
          // Here, so that there is an entry even when the backend is unreachable.
          if ('error' in attempt) throw attempt.error;
          return { found: attempt.found, result: await this.runOn(attempt.found, { caller, reservation }, ...params) };
        },
        ({ result }) => this.describe(result),
      );
      return this.settle(found, result, ...params);
    });
  }

  /** An agent changes the instance only if a fresh plan is the one that it has rehearsed. @throws DomainError */
  private async expectRehearsed(
    { ref, uid }: Instance,
    attempt: Attempt<K>,
    params: Params,
    rehearsed: RehearsedWork,
  ): Promise<void> {
    if ('error' in attempt) throw attempt.error;
    await rehearsed.expectSame({ ref: formatRef(ref), uid }, () => this.planOn(attempt.found, ...params));
  }

  /**
   * Checks the state of the instance and finds the ability. The state of an instance whose backend is unreachable may
   * be out of date, so it is not checked.
   * @throws DomainError the refusal of the state
   */
  private attempt(instance: Instance, params: Params): Attempt<K> {
    const attempt = this.find(instance);
    const isUnreachable = 'error' in attempt && DomainError.is(attempt.error, 'BACKEND_UNREACHABLE');
    if (!isUnreachable) this.check(instance, ...params);
    return attempt;
  }

  private find(instance: Instance): Attempt<K> {
    try {
      return { found: withAbility(this.deps.backends, instance, this.ability) };
    } catch (error) {
      return { error };
    }
  }
}
