import {
  Change,
  DomainError,
  buildPlan,
  isVm,
  templateRefusal,
  type BackendDirectory,
  type Caller,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type PowerAction,
  type PowerObserver,
  type PowerOptions,
  type Audit,
} from '@headgate/domain-contracts';

/** Turns a VM on or off. */
export class ApplyPower extends Change<[query: InstanceQuery, action: PowerAction, options: PowerOptions]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly observer: PowerObserver,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, action: PowerAction, { force = false }: PowerOptions): Promise<Plan> {
    const { ref } = this.find(query, action);
    this.backends.get(ref.context).require('power');
    return buildPlan([{ name: action, detail: `${ref.name}${force ? ', by force' : ''}` }]);
  }

  override async run(query: InstanceQuery, action: PowerAction, options: PowerOptions, caller: Caller): Promise<void> {
    const instance = this.find(query, action);
    const { ref } = instance;
    const name = options.force ? `${action} by force` : action;
    const apply = () => this.backends.get(ref.context).require('power').apply(ref, action, options);
    await this.audit.of(caller, name, ref, () =>
      isVm(instance) ? this.observer.observe(instance, action, options, apply) : apply(),
    );
  }

  /** @throws DomainError WRONG_STATE when a template would be started */
  private find(query: InstanceQuery, action: PowerAction): Instance {
    const instance = this.directory.resolve(query);
    if (isVm(instance) && instance.isTemplate && (action === 'start' || action === 'restart'))
      throw new DomainError('WRONG_STATE', templateRefusal(instance.ref.name));
    return instance;
  }
}
