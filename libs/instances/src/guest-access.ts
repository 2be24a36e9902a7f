import {
  buildPlan,
  Change,
  type Audit,
  type BackendDirectory,
  type Caller,
  type GuestCommand,
  type GuestCommandResult,
  type GuestInfo,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
} from '@headgate/domain-contracts';

/** Reads facts about a running guest through its agent. */
export class ReadGuestInfo {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
  ) {}

  /** @throws DomainError INSTANCE_NOT_FOUND, GUEST_AGENT_UNREACHABLE, BACKEND_UNREACHABLE */
  async read(query: InstanceQuery): Promise<GuestInfo> {
    const { ref } = this.directory.resolve(query);
    return this.backends.get(ref.context).require('guestInfo').info(ref);
  }
}

/** Sets the password of an account in a running guest. The password is in no plan, audit entry or error. */
export class SetGuestPassword extends Change<[ref: InstanceRef, user: string, password: string]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(asked: InstanceRef, user: string): Promise<Plan> {
    const ref = findVm(this.directory, asked);
    this.backends.get(ref.context).require('guestControl');
    return buildPlan([{ name: 'set password', detail: `of ${user} in ${ref.name}` }]);
  }

  override async run(asked: InstanceRef, user: string, password: string, caller: Caller): Promise<void> {
    const ref = findVm(this.directory, asked);
    await this.audit.of(caller, `set guest password of ${user}`, ref, () =>
      this.backends.get(ref.context).require('guestControl').setPassword(ref, user, password),
    );
  }
}

/** Runs a program in a running guest. The audit log gets its path, but not its arguments, which may be secret. */
export class RunGuestCommand extends Change<[ref: InstanceRef, command: GuestCommand], GuestCommandResult> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(asked: InstanceRef, { path }: GuestCommand): Promise<Plan> {
    const ref = findVm(this.directory, asked);
    this.backends.get(ref.context).require('guestControl');
    return buildPlan([{ name: 'run program', detail: `${path} in ${ref.name}` }]);
  }

  override async run(asked: InstanceRef, command: GuestCommand, caller: Caller): Promise<GuestCommandResult> {
    const ref = findVm(this.directory, asked);
    return this.audit.of(
      caller,
      `run ${command.path} in guest`,
      ref,
      () => this.backends.get(ref.context).require('guestControl').run(ref, command),
      ({ exitCode }) => (exitCode === null ? 'It was ended.' : `Its exit code is ${exitCode}.`),
    );
  }
}

const findVm = (directory: InstanceDirectory, { context, namespace, name }: InstanceRef): InstanceRef =>
  directory.resolve({ kind: 'vm', context, namespace, name }).ref;
