import { rm } from 'node:fs/promises';
import {
  buildPlan,
  busyRefusal,
  Change,
  DomainError,
  messageOf,
  throwFirstRefusal,
  type AddedContextStore,
  type Audit,
  type Caller,
  type InstanceKind,
  type Log,
  type Plan,
  type PlanStep,
  type Refusal,
  type Reservations,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import type { ContextOpener } from '../composition/context-opener.js';
import type { AddedContexts } from '../fleet/added-contexts.js';
import type { Backends } from '../fleet/backends.js';
import type { LiveContexts } from '../fleet/live-contexts.js';

export interface RemoveContextDeps {
  readonly store: AddedContextStore;
  readonly added: AddedContexts;
  readonly backends: Backends;
  readonly live: LiveContexts;
  readonly fleet: FleetReader;
  readonly reservations: Reservations;
  readonly opener: ContextOpener | undefined;
  readonly audit: Audit;
  readonly log: Log;
}

const FROM_FILE =
  'is from the configuration file, the command line, or was found when the service started: remove it there, and restart the service.';

/** Removes a context that was added, and its instances from the lists. Never touches the instances themselves. */
export class RemoveContext extends Change<[name: string], void, string> {
  constructor(private readonly deps: RemoveContextDeps) {
    super();
  }

  protected override prepare(name: string): string {
    if (this.deps.added.stored().some((one) => one.name === name)) return name;
    if (this.deps.backends.find(name)) throw new DomainError('CONFLICT', `The context "${name}" ${FROM_FILE}`);
    throw new DomainError('ADDED_CONTEXT_NOT_FOUND', `There is no context "${name}" that was added.`);
  }

  protected override async planPrepared(name: string): Promise<Plan> {
    if (!this.isUsed(name)) return buildPlan([this.forgetting(name)]);
    const [vms, containers] = [this.count('vm', name), this.count('ct', name)];
    const steps: PlanStep[] = [
      { name: 'remove from the lists', detail: `${vms} VMs and ${containers} containers of ${name}` },
      { name: 'close connections', detail: `watches, consoles and streams of ${name}` },
      this.forgetting(name),
    ];
    const warnings = [
      'The VMs and containers go on: nothing is changed on the other side.',
      'Their folders and their usage history are kept, for a context that is added again under this name.',
    ];
    return buildPlan(steps, { warnings, refusals: this.refusals(name) });
  }

  protected override async runPrepared(name: string, caller: Caller): Promise<void> {
    const { added, audit } = this.deps;
    await added.during(name, () => audit.of(caller, 'remove context', `context/${name}`, () => this.remove(name)));
  }

  private async remove(name: string): Promise<void> {
    const { store, live, added } = this.deps;
    const isUsed = this.isUsed(name);
    if (isUsed) throwFirstRefusal({ refusals: this.refusals(name) });
    // In the same turn as the check, so that no operation begins in between.
    const undo = isUsed ? live.hide(name) : (): void => undefined;
    try {
      if (!(await store.delete(name))) {
        throw new DomainError('ADDED_CONTEXT_NOT_FOUND', `The context "${name}" was removed meanwhile.`);
      }
    } catch (error) {
      if (!DomainError.is(error, 'ADDED_CONTEXT_NOT_FOUND')) undo();
      throw error;
    }
    if (!isUsed) return added.close(name);
    await live.detach(name);
    await this.removeFiles(name);
  }

  /** The key with which this service was known to the other side, and parts of downloads. */
  private async removeFiles(name: string): Promise<void> {
    const { opener, log } = this.deps;
    try {
      if (opener) await rm(opener.folderOf(name), { recursive: true, force: true });
    } catch (error) {
      log.warn({ context: name, reason: messageOf(error) }, 'the files of a removed context were not deleted');
    }
  }

  /** A stored context is not used when it could not be opened, or when the configuration has one of its name. */
  private isUsed(name: string): boolean {
    return this.deps.added.reasonOf(name) === undefined && this.deps.backends.find(name) !== undefined;
  }

  private refusals(name: string): Refusal[] {
    return this.deps.reservations.inContext(name).map(busyRefusal);
  }

  private forgetting(name: string): PlanStep {
    return { name: 'forget settings', detail: `the address and the credentials of ${name}` };
  }

  private count(kind: InstanceKind, context: string): number {
    let count = 0;
    for (const { instance } of this.deps.fleet.all(kind)) if (instance.ref.context === context) count++;
    return count;
  }
}
