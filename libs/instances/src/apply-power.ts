import {
  Change,
  DomainError,
  buildPlan,
  isVm,
  templateRefusal,
  workOn,
  type BackendDirectory,
  type Caller,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type PowerAction,
  type PowerObserver,
  type PowerOptions,
  type Reservations,
  type Audit,
  type VmStatus,
} from '@headgate/domain-contracts';
import { findChangeable } from './find-changeable.js';

/**
 * The statuses that an action ends at once. A guest that is asked to shut down decides itself when that happens, and a restart may end in the
 * same status.
 */
const ENDS = {
  start: () => ['Stopped'],
  stop: ({ force = false }) => (force ? ['Running', 'Paused'] : []),
  restart: () => [],
  pause: () => ['Running'],
  unpause: () => ['Paused'],
} as const satisfies Readonly<Record<PowerAction, (options: PowerOptions) => readonly VmStatus[]>>;

/** Turns a VM on or off. The next request about it sees the status that it has then. */
export class ApplyPower extends Change<[query: InstanceQuery, action: PowerAction, options: PowerOptions]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly observer: PowerObserver,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, action: PowerAction, { force = false }: PowerOptions): Promise<Plan> {
    const { ref } = findChangeable(this.directory, query);
    this.backends.get(ref.context).require('power');
    return this.reservations.plan(workOn(action, ref), async () => {
      this.find(ref, action);
      return buildPlan([{ name: action, detail: `${ref.name}${force ? ', by force' : ''}` }]);
    });
  }

  override async run(query: InstanceQuery, action: PowerAction, options: PowerOptions, caller: Caller): Promise<void> {
    const { ref, uid } = findChangeable(this.directory, query);
    await this.reservations.during(workOn(action, ref), async () => {
      const instance = this.find({ ...ref, uid }, action);
      const name = options.force ? `${action} by force` : action;
      const apply = () => this.backends.get(ref.context).require('power').apply(ref, action, options);
      await this.audit.of(caller, name, ref, () =>
        isVm(instance) ? this.observer.observe(instance, action, options, apply) : apply(),
      );
      const ended: readonly VmStatus[] = ENDS[action](options);
      await this.directory.waitFor(ref, (vm) => vm?.uid !== uid || !isVm(vm) || !ended.includes(vm.status));
    });
  }

  /** @throws DomainError WRONG_STATE when a template would be started */
  private find(query: InstanceQuery, action: PowerAction): Instance {
    const instance = findChangeable(this.directory, query);
    if (isVm(instance) && instance.isTemplate && (action === 'start' || action === 'restart'))
      throw new DomainError('WRONG_STATE', templateRefusal(instance.ref.name));
    return instance;
  }
}
