import {
  attemptMember,
  buildPlan,
  bulkSeconds,
  Change,
  DomainError,
  isRunningStatus,
  isVm,
  messageOf,
  parseRef,
  runMembers,
  workOn,
  type Caller,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type PowerAction,
  type Reservations,
} from '@headgate/domain-contracts';
import type { Folders } from './folders.js';

/** Carries out a power action on a VM or a container, with all checks and the audit entry of a single request. */
export interface MemberActions {
  apply(order: { readonly action: PowerAction }, ref: InstanceRef, caller: Caller): Promise<string | undefined>;
}

export interface FolderActionOptions {
  /** Also the members of the folders in it. */
  readonly recursive?: boolean;
}

/** The result of one member. Exactly one of `ok` without a reason, `skipped` and `error`. */
export interface MemberResult {
  readonly ref: string;
  readonly name: string;
  readonly ok: boolean;
  /** Why the action was not needed, or makes no sense for this member. */
  readonly skipped?: string;
  /** Why it failed. */
  readonly error?: string;
}

export interface FolderActionResult {
  readonly path: string;
  readonly action: PowerAction;
  /** How many members each; together they are all of them. */
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly members: readonly MemberResult[];
}

/** How many members are worked on at a time. */
const MAX_CONCURRENT_MEMBERS = 16;

/** Turns all members of a folder on or off. A member that fails stops no other. */
export class RunFolderAction extends Change<
  [path: string, action: PowerAction, options: FolderActionOptions],
  FolderActionResult,
  FolderAction
> {
  constructor(
    private readonly folders: Folders,
    private readonly directory: InstanceDirectory,
    private readonly actions: MemberActions,
    private readonly times: Pick<Reservations, 'withTimes'>,
  ) {
    super();
  }

  /** @throws DomainError FOLDER_NOT_FOUND */
  protected override prepare(path: string, action: PowerAction, options: FolderActionOptions): FolderAction {
    return { path, action, members: this.members(path, options) };
  }

  protected override async planPrepared({ action, members }: FolderAction): Promise<Plan> {
    const steps: Plan['steps'][number][] = [];
    const warnings: string[] = [];
    for (const { ref, instance } of members) {
      const skipped = instance && reasonToSkip(instance, action);
      if (!instance) warnings.push(`${ref} does not exist.`);
      else if (skipped) warnings.push(`${ref} is skipped: ${skipped}`);
      else steps.push(...this.times.withTimes(workOn(action, ref), buildPlan([{ name: action, detail: ref }])).steps);
    }
    const seconds = bulkSeconds(
      { action, atOnce: MAX_CONCURRENT_MEMBERS },
      steps.map((step) => step.seconds),
    );
    return { ...buildPlan(steps, { warnings }), ...(seconds && { seconds }) };
  }

  protected override async runPrepared(
    { path, action, members: pending }: FolderAction,
    caller: Caller,
  ): Promise<FolderActionResult> {
    const members: MemberResult[] = new Array<MemberResult>(pending.length);
    await runMembers([...pending.entries()], { limit: MAX_CONCURRENT_MEMBERS }, async ([index, member]) => {
      members[index] = await this.apply(member, action, caller);
    });
    const count = (matches: (result: MemberResult) => boolean): number => members.filter(matches).length;
    return {
      path,
      action,
      ok: count(({ ok, skipped }) => ok && skipped === undefined),
      failed: count(({ ok }) => !ok),
      skipped: count(({ skipped }) => skipped !== undefined),
      members,
    };
  }

  private async apply({ ref, uid }: ActionMember, action: PowerAction, caller: Caller): Promise<MemberResult> {
    const { name } = parseRef(ref);
    // Looked up again: earlier members may have taken long.
    const instance = this.find(ref, uid);
    if (!instance) return { ref, name, ok: false, error: `${name} does not exist, or its context was not listed yet.` };
    const skipped = reasonToSkip(instance, action);
    if (skipped !== undefined) return { ref, name, ok: true, skipped };
    const { error } = await attemptMember(() => this.actions.apply({ action }, instance.ref, caller), explain);
    return error === undefined ? { ref, name, ok: true } : { ref, name, ok: false, error };
  }

  /** @throws DomainError FOLDER_NOT_FOUND */
  private members(path: string, { recursive = false }: FolderActionOptions): ActionMember[] {
    const { tree } = this.folders;
    const paths = recursive ? tree.within(path) : tree.within(path).slice(0, 1);
    return paths.flatMap((one) =>
      [...tree.members(one)]
        .map(({ ref, uid, state }) => ({ ref, uid, state, instance: this.find(ref, uid) }))
        // One whose deletion was requested is gone.
        .filter(({ state, instance }) => instance !== undefined || state !== 'ending')
        .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
    );
  }

  /** The member itself, not another instance of its name. */
  private find(ref: string, uid: string): Instance | undefined {
    const instance = this.directory.get(parseRef(ref));
    return instance?.uid === uid ? instance : undefined;
  }
}

interface FolderAction {
  readonly path: string;
  readonly action: PowerAction;
  readonly members: readonly ActionMember[];
}

interface ActionMember {
  readonly ref: string;
  readonly uid: string;
  readonly instance: Instance | undefined;
}

/** Only the sentence of a `DomainError` is meant for people. */
const explain = (error: unknown): string =>
  DomainError.is(error) ? error.message : `Unexpected error: ${messageOf(error)}`;

/**
 * Why an action is not needed or not possible in the state that the fleet shows; undefined when it is to be carried
 * out.
 */
function reasonToSkip(instance: Instance, action: PowerAction): string | undefined {
  if (!isVm(instance)) {
    if (action !== 'start' && action !== 'stop') return 'Containers can only be started and stopped.';
    const isOn = instance.phase === 'Running' || instance.phase === 'Pending';
    return isOn === (action === 'start') ? `The container is ${isOn ? 'running' : 'stopped'}.` : undefined;
  }
  const { status, isTemplate } = instance;
  if (isTemplate && action === 'start') return 'A template is not started.';
  const isOn = isRunningStatus(status);
  switch (action) {
    case 'start':
      return isOn && status !== 'Stopping' ? 'The VM is running.' : undefined;
    case 'stop':
    case 'restart':
    case 'pause':
      if (status === 'Stopped') return 'The VM is stopped.';
      return action === 'pause' && status === 'Paused' ? 'The VM is paused.' : undefined;
    case 'unpause':
      return status === 'Paused' ? undefined : 'The VM is not paused.';
  }
}
