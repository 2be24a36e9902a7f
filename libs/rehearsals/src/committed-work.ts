import { DomainError, messageOf, RehearsedWork, type AnyPlan, type InstanceIdentity } from '@headgate/domain-contracts';
import { comparable, differencesOf, planChanged, type Comparable } from './compare-plans.js';
import { canonicalJson } from './canonical-json.js';

export interface CommittedWorkOptions {
  readonly action: string;
  readonly note: string;
  readonly targets: readonly InstanceIdentity[];
  readonly plans: ReadonlyMap<string, Comparable>;
  /** @throws DomainError when the agent was stopped or its token revoked */
  readonly expectActive: () => void;
  readonly onRefused: (ref: string, error: unknown) => void;
}

/** A commit that runs. Each of its targets may be changed once, and only as it was rehearsed. */
export class CommittedWork extends RehearsedWork {
  override readonly note: string;
  private readonly uids: ReadonlyMap<string, string>;
  private readonly compared = new Set<string>();

  constructor(private readonly options: CommittedWorkOptions) {
    super();
    this.note = options.note;
    this.uids = new Map(options.targets.map(({ ref, uid }) => [ref, uid]));
  }

  override async expectSame(target: InstanceIdentity, plan: () => Promise<AnyPlan>): Promise<void> {
    try {
      await this.compare(target, plan);
    } catch (error) {
      this.options.onRefused(target.ref, error);
      throw error;
    }
    this.compared.add(target.ref);
  }

  override expectCompared(subject: string): void {
    if (this.compared.has(subject)) return;
    throw new DomainError('NOT_PERMITTED', `A token with a leash has not rehearsed a change of ${subject}.`);
  }

  private async compare({ ref, uid }: InstanceIdentity, makePlan: () => Promise<AnyPlan>): Promise<void> {
    const { action, plans, expectActive } = this.options;
    expectActive();
    const rehearsed = plans.get(ref);
    if (this.compared.has(ref) || rehearsed === undefined || this.uids.get(ref) !== uid)
      throw new DomainError('PLAN_CHANGED', `${ref} is not the instance that was rehearsed. Rehearse it again.`);
    if (isRefusal(rehearsed))
      throw new DomainError('PLAN_CHANGED', `To ${action} ${ref} was refused when it was rehearsed.`);
    const now = await makePlan().then(comparable, (error: unknown) => ({ error: messageOf(error) }));
    // The plan has taken time, in which an administrator may have stopped the agent.
    expectActive();
    if (canonicalJson(now) === canonicalJson(rehearsed)) return;
    throw planChanged(action, differencesOf(new Map([[ref, rehearsed]]), new Map([[ref, now]])));
  }
}

const isRefusal = ({ refusals }: Comparable): boolean => Array.isArray(refusals) && refusals.length > 0;
