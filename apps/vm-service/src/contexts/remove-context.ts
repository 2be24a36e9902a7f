import { rm } from 'node:fs/promises';
import {
  buildPlan,
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
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import type { ContextOpener } from '../composition/context-opener.js';
import type { AddedContexts } from '../fleet/added-contexts.js';
import type { LiveContexts } from '../fleet/live-contexts.js';
import type { ChangeableContexts } from './changeable-contexts.js';

export interface RemoveContextDeps {
  readonly store: AddedContextStore;
  readonly added: AddedContexts;
  readonly changeable: ChangeableContexts;
  readonly live: LiveContexts;
  readonly fleet: FleetReader;
  readonly opener: ContextOpener | undefined;
  readonly audit: Audit;
  readonly log: Log;
}

/** Removes a context that was added, and its instances from the lists. Never touches the instances themselves. */
export class RemoveContext extends Change<[name: string], void, string> {
  constructor(private readonly deps: RemoveContextDeps) {
    super();
  }

  protected override prepare(name: string): string {
    return this.deps.changeable.find(name, 'remove').name;
  }

  protected override async planPrepared(name: string): Promise<Plan> {
    const { changeable } = this.deps;
    if (!changeable.isUsed(name)) return buildPlan([this.forgetting(name)]);
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
    return buildPlan(steps, { warnings, refusals: changeable.refusals(name) });
  }

  protected override async runPrepared(name: string, caller: Caller): Promise<void> {
    const { added, audit } = this.deps;
    await added.during(name, () => audit.of(caller, 'remove context', `context/${name}`, () => this.remove(name)));
  }

  private async remove(name: string): Promise<void> {
    const { store, live, added, changeable } = this.deps;
    const isUsed = changeable.isUsed(name);
    throwFirstRefusal({ refusals: changeable.refusals(name) });
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

  private forgetting(name: string): PlanStep {
    return { name: 'forget settings', detail: `the address and the credentials of ${name}` };
  }

  private count(kind: InstanceKind, context: string): number {
    let count = 0;
    for (const { instance } of this.deps.fleet.all(kind)) if (instance.ref.context === context) count++;
    return count;
  }
}
