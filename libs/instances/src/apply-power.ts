import {
  DomainError,
  FORCED,
  buildPlan,
  isVm,
  refusal,
  templateRefusal,
  type FoundInstance,
  type Instance,
  type Plan,
  type PowerAction,
  type PowerObserver,
  type PowerOptions,
  type VmStatus,
  type Work,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit, type InstanceChangeDeps } from './instance-change.js';

/**
 * The statuses that an action ends immediately. A guest that is asked to shut down decides itself when that happens,
 * and a restart may end in the same status.
 */
const ENDS = {
  start: () => ['Stopped'],
  stop: ({ force = false }) => (force ? ['Running', 'Paused'] : []),
  restart: () => [],
  pause: () => ['Running'],
  unpause: () => ['Paused'],
} as const satisfies Readonly<Record<PowerAction, (options: PowerOptions) => readonly VmStatus[]>>;

/** The actions that every backend refuses for a stopped VM. */
const NEED_A_GUEST: ReadonlySet<PowerAction> = new Set(['restart', 'pause', 'unpause']);

type PowerParams = [action: PowerAction, options: PowerOptions];

export interface ApplyPowerDeps extends InstanceChangeDeps {
  readonly observer: PowerObserver;
}

/** Turns a VM on or off. The next request about it sees the status that it has then. */
export class ApplyPower extends InstanceChange<'power', PowerParams> {
  protected override readonly ability = 'power';

  constructor(protected override readonly deps: ApplyPowerDeps) {
    super(deps);
  }

  protected override operationOf(action: PowerAction): PowerAction {
    return action;
  }

  protected override actionOf(action: PowerAction, { force }: PowerOptions): string {
    return force ? `${action} by force` : action;
  }

  protected override workOf(instance: Instance, action: PowerAction, options: PowerOptions): Work {
    const ended: readonly VmStatus[] = ENDS[action](options);
    return {
      ...super.workOf(instance, action, options),
      ...(options.force && { variant: FORCED }),
      ...(ended.length === 0 && { endsLater: true }),
    };
  }

  /** @throws DomainError WRONG_STATE when a template would be started */
  protected override check(instance: Instance, action: PowerAction): void {
    if (isVm(instance) && instance.isTemplate && (action === 'start' || action === 'restart'))
      throw new DomainError('WRONG_STATE', templateRefusal(instance.ref.name));
  }

  protected override async planOn(
    { ref, instance }: FoundInstance<'power'>,
    action: PowerAction,
    { force = false }: PowerOptions,
  ): Promise<Plan> {
    // Only a plan relies on the list for it: the backend refuses the action by the status that it sees.
    if (isVm(instance) && instance.status === 'Stopped' && NEED_A_GUEST.has(action))
      return buildPlan([], {
        refusals: [
          refusal('WRONG_STATE', `${ref.name} is not running, so there is nothing to ${action}.`, 'Start it first.'),
        ],
      });
    return buildPlan([{ name: action, detail: `${ref.name}${force ? ', by force' : ''}` }]);
  }

  protected override runOn(
    { instance, ref, ability }: FoundInstance<'power'>,
    _permit: Permit,
    action: PowerAction,
    options: PowerOptions,
  ): Promise<void> {
    const apply = () => ability.apply(ref, action, options);
    return isVm(instance) ? this.deps.observer.observe(instance, action, options, apply) : apply();
  }

  protected override settle(
    { ref, uid }: FoundInstance<'power'>,
    _result: void,
    action: PowerAction,
    options: PowerOptions,
  ): Promise<void> {
    const ended: readonly VmStatus[] = ENDS[action](options);
    return this.deps.directory.waitFor(ref, (vm) => vm?.uid !== uid || !isVm(vm) || !ended.includes(vm.status));
  }
}
