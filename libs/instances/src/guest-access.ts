import {
  buildPlan,
  Change,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type GuestCommand,
  type GuestCommandResult,
  type GuestInfo,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type Reservations,
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
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(asked: InstanceRef, user: string): Promise<Plan> {
    const { ref } = findVm(this.directory, asked);
    this.backends.get(ref.context).require('guestControl');
    const plan = buildPlan([{ name: 'set password', detail: `of ${user} in ${ref.name}` }]);
    return this.reservations.inPlan(workOn('guest-password', ref), plan);
  }

  override async run(asked: InstanceRef, user: string, password: string, caller: Caller): Promise<void> {
    const { ref, uid } = findVm(this.directory, asked);
    await this.reservations.during(workOn('guest-password', ref), async () => {
      this.directory.resolve({ ...ref, uid });
      await this.audit.of(caller, `set guest password of ${user}`, ref, () =>
        this.backends.get(ref.context).require('guestControl').setPassword(ref, user, password),
      );
    });
  }
}

/** Runs a program in a running guest. The audit log gets its path, but not its arguments, which may be secret. */
export class RunGuestCommand extends Change<[ref: InstanceRef, command: GuestCommand], GuestCommandResult> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(asked: InstanceRef, { path }: GuestCommand): Promise<Plan> {
    const { ref } = findVm(this.directory, asked);
    this.backends.get(ref.context).require('guestControl');
    const plan = buildPlan([{ name: 'run program', detail: `${path} in ${ref.name}` }]);
    return this.reservations.inPlan(workOn('guest-command', ref), plan);
  }

  override async run(asked: InstanceRef, command: GuestCommand, caller: Caller): Promise<GuestCommandResult> {
    const { ref, uid } = findVm(this.directory, asked);
    return this.reservations.during(workOn('guest-command', ref), async () => {
      this.directory.resolve({ ...ref, uid });
      return this.audit.of(
        caller,
        `run ${command.path} in guest`,
        ref,
        () => this.backends.get(ref.context).require('guestControl').run(ref, command),
        ({ exitCode }) => (exitCode === null ? 'It was ended.' : `Its exit code is ${exitCode}.`),
      );
    });
  }
}

const findVm = (directory: InstanceDirectory, { context, namespace, name }: InstanceRef): Instance =>
  directory.resolve({ kind: 'vm', context, namespace, name });
