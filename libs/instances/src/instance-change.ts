import {
  Change,
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
  type Reservation,
  type Reservations,
  type Work,
} from '@headgate/domain-contracts';
import { findChangeable } from './find-changeable.js';

export interface InstanceChangeDeps extends InstanceSources {
  readonly audit: Audit;
  readonly reservations: Reservations;
}

/** The instance of a change, as it was before the reservation. */
export interface Target<Order extends readonly unknown[]> {
  readonly instance: Instance;
  readonly order: Order;
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
  Order extends readonly unknown[] = Args,
> extends Change<[query: InstanceQuery, ...args: Args], Result, Target<Order>> {
  /** The ability of the backend that carries it out. */
  protected abstract readonly ability: K;

  constructor(protected readonly deps: InstanceChangeDeps) {
    super();
  }

  protected abstract operationOf(...order: Order): Operation;

  /** The action in the audit log. */
  protected abstract actionOf(...order: Order): string;

  protected abstract planOn(found: FoundInstance<K>, ...order: Order): Promise<Plan>;

  protected abstract runOn(found: FoundInstance<K>, permit: Permit, ...order: Order): Promise<Result>;

  /** The arguments with their defaults. Called once, before the reservation. @throws DomainError */
  protected orderOf(_instance: Instance, ...args: Args): Order {
    return args as unknown as Order;
  }

  protected workOf({ ref }: Instance, ...order: Order): Work {
    return workOn(this.operationOf(...order), ref);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND; BUSY while it is being deleted, unless that does not matter */
  protected locate(query: InstanceQuery): Instance {
    return findChangeable(this.deps.directory, query);
  }

  /** Checks the state of the instance, with the reservation. @throws DomainError WRONG_STATE and others */
  protected check(_instance: Instance, ..._order: Order): void {
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
  protected async settle(_found: FoundInstance<K>, result: Result, ..._order: Order): Promise<Result> {
    return result;
  }

  protected override prepare(query: InstanceQuery, ...args: Args): Target<Order> {
    const instance = this.locate(query);
    return { instance, order: this.orderOf(instance, ...args) };
  }

  protected override planPrepared({ instance, order }: Target<Order>): Promise<Plan> {
    const { backends, reservations } = this.deps;
    return reservations.plan(this.workOf(instance, ...order), async () => {
      const found = withAbility(backends, instance, this.ability);
      this.check(instance, ...order);
      return this.planOn(found, ...order);
    });
  }

  protected override runPrepared({ instance: known, order }: Target<Order>, caller: Caller): Promise<Result> {
    const { audit, reservations } = this.deps;
    const { ref, uid } = known;
    return reservations.during(this.workOf(known, ...order), async (reservation) => {
      const instance = this.locate({ ...ref, uid });
      const attempt = this.attempt(instance);
      // The state of an instance whose backend is unreachable may be out of date.
      if ('found' in attempt) this.check(instance, ...order);
      const { found, result } = await audit.of(
        caller,
        this.actionOf(...order),
        ref,
        async () => {
          // Here, so that there is an entry even when the backend is unreachable.
          if ('error' in attempt) throw attempt.error;
          return { found: attempt.found, result: await this.runOn(attempt.found, { caller, reservation }, ...order) };
        },
        ({ result }) => this.describe(result),
      );
      return this.settle(found, result, ...order);
    });
  }

  private attempt(instance: Instance): { readonly found: FoundInstance<K> } | { readonly error: unknown } {
    try {
      return { found: withAbility(this.deps.backends, instance, this.ability) };
    } catch (error) {
      return { error };
    }
  }
}
