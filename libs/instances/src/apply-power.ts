import {
  Change,
  buildPlan,
  type BackendDirectory,
  type Caller,
  type InstanceDirectory,
  type InstanceQuery,
  type Plan,
  type PowerAction,
  type PowerOptions,
  type Audit,
} from '@headgate/domain-contracts';

/** Turns a VM on or off. */
export class ApplyPower extends Change<[query: InstanceQuery, action: PowerAction, options: PowerOptions]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, action: PowerAction, { force = false }: PowerOptions): Promise<Plan> {
    const { ref } = this.directory.resolve(query);
    this.backends.get(ref.context).require('power');
    return buildPlan([{ name: action, detail: `${ref.name}${force ? ', by force' : ''}` }]);
  }

  override async run(query: InstanceQuery, action: PowerAction, options: PowerOptions, caller: Caller): Promise<void> {
    const { ref } = this.directory.resolve(query);
    const name = options.force ? `${action} by force` : action;
    await this.audit.of(caller, name, ref, () =>
      this.backends.get(ref.context).require('power').apply(ref, action, options),
    );
  }
}
