import {
  buildPlan,
  findInstance,
  type FoundInstance,
  type GuestCommand,
  type GuestCommandResult,
  type GuestInfo,
  type Instance,
  type InstanceQuery,
  type InstanceSources,
  type Plan,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit } from './instance-change.js';

/** Reads facts about a running guest through its agent. */
export class ReadGuestInfo {
  constructor(private readonly deps: InstanceSources) {}

  /** @throws DomainError INSTANCE_NOT_FOUND, GUEST_AGENT_UNREACHABLE, BACKEND_UNREACHABLE */
  async read(query: InstanceQuery): Promise<GuestInfo> {
    const { ref, ability } = findInstance(this.deps, query, 'guestInfo');
    return ability.info(ref);
  }
}

/** Sets the password of an account in a running guest. The password is in no plan, audit entry or error. */
export class SetGuestPassword extends InstanceChange<'guestControl', [user: string, password: string]> {
  protected override readonly ability = 'guestControl';

  protected override operationOf() {
    return 'guest-password' as const;
  }

  protected override actionOf(user: string): string {
    return `set guest password of ${user}`;
  }

  protected override locate(query: InstanceQuery): Instance {
    return this.deps.directory.resolve({ ...query, kind: 'vm' });
  }

  protected override async planOn({ ref }: FoundInstance<'guestControl'>, user: string): Promise<Plan> {
    return buildPlan([{ name: 'set password', detail: `of ${user} in ${ref.name}` }]);
  }

  protected override runOn(
    { ref, ability }: FoundInstance<'guestControl'>,
    _permit: Permit,
    user: string,
    password: string,
  ): Promise<void> {
    return ability.setPassword(ref, user, password);
  }
}

/** Runs a program in a running guest. The audit log gets its path, but not its arguments, which may be secret. */
export class RunGuestCommand extends InstanceChange<'guestControl', [command: GuestCommand], GuestCommandResult> {
  protected override readonly ability = 'guestControl';

  protected override operationOf() {
    return 'guest-command' as const;
  }

  protected override actionOf({ path }: GuestCommand): string {
    return `run ${path} in guest`;
  }

  protected override locate(query: InstanceQuery): Instance {
    return this.deps.directory.resolve({ ...query, kind: 'vm' });
  }

  protected override async planOn({ ref }: FoundInstance<'guestControl'>, { path }: GuestCommand): Promise<Plan> {
    return buildPlan([{ name: 'run program', detail: `${path} in ${ref.name}` }]);
  }

  protected override runOn(
    { ref, ability }: FoundInstance<'guestControl'>,
    _permit: Permit,
    command: GuestCommand,
  ): Promise<GuestCommandResult> {
    return ability.run(ref, command);
  }

  protected override describe({ exitCode }: GuestCommandResult): string {
    return exitCode === null ? 'It was ended.' : `Its exit code is ${exitCode}.`;
  }
}
