import {
  Change,
  DomainError,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type InstanceCloning,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type Reservations,
} from '@headgate/domain-contracts';
import { findChangeable } from '../find-changeable.js';
import type { CloneTasks } from './clone-tasks.js';
import type { PlaceInstance } from '../place-instance.js';

export interface CloningDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly place: PlaceInstance;
  readonly tasks: CloneTasks;
  readonly audit: Audit;
  readonly reservations: Reservations;
}

export interface ClonedVm {
  readonly ref: InstanceRef;
  /** The task that completes the clone, if that takes time. */
  readonly task?: string;
}

/** Copies a stopped VM or a template, with an identity of its own. */
export class CloneVm extends Change<[query: InstanceQuery, target: string], ClonedVm> {
  constructor(private readonly deps: CloningDeps) {
    super();
  }

  override async plan(query: InstanceQuery, target: string): Promise<Plan> {
    const { source, ref } = this.locate(query, target);
    return this.deps.reservations.plan(workOn('clone', source, ref), () =>
      this.prepare(source, target).planClone(source, ref),
    );
  }

  override async run(query: InstanceQuery, target: string, caller: Caller): Promise<ClonedVm> {
    const { source, uid, ref } = this.locate(query, target);
    const { directory, tasks, audit, reservations } = this.deps;
    return reservations.during(workOn('clone', source, ref), async (reservation) => {
      // The source may have been changed, or the name taken, while the request waited.
      const cloning = this.prepare({ ...source, uid }, target);
      return audit.of(caller, `clone to ${target}`, source, async () => {
        throwFirstRefusal(await cloning.planClone(source, ref));
        const order = { target };
        const started = await tasks.clones.start({
          ...{ name: target, ref: source, subject: ref },
          order,
          caller,
          reservation,
        });
        if (started.continues) return { ref, task: started.task };
        await directory.waitFor(ref, (instance) => instance !== undefined);
        return { ref };
      });
    });
  }

  /** @throws DomainError INVALID_NAME */
  private locate(
    query: InstanceQuery,
    name: string,
  ): { readonly source: InstanceRef; readonly uid: string; readonly ref: InstanceRef } {
    const { ref: source, uid } = findChangeable(this.deps.directory, query);
    return { source, uid, ref: this.deps.place.locate({ ...source, name }).ref };
  }

  /** @throws DomainError ALREADY_EXISTS, WRONG_STATE */
  private prepare(query: InstanceQuery, name: string): InstanceCloning {
    const vm = findChangeable(this.deps.directory, query);
    const source = vm.ref;
    const cloning = this.deps.backends.get(source.context).require('cloning');
    this.deps.place.place({ ...source, name });
    if (isVm(vm) && isRunningStatus(vm.status))
      throw new DomainError('WRONG_STATE', `${source.name} runs: stop it first, then clone it.`);
    return cloning;
  }
}

/** Marks a VM as a template, or removes the mark. */
export class MarkTemplate extends Change<[query: InstanceQuery, on: boolean]> {
  constructor(private readonly deps: Omit<CloningDeps, 'place' | 'tasks'>) {
    super();
  }

  override async plan(query: InstanceQuery, on: boolean): Promise<Plan> {
    const { directory, backends, reservations } = this.deps;
    const { ref } = findChangeable(directory, query);
    return reservations.plan(workOn('template', ref), () =>
      backends.get(ref.context).require('cloning').planTemplate(ref, on),
    );
  }

  override async run(query: InstanceQuery, on: boolean, caller: Caller): Promise<void> {
    const { directory, backends, audit, reservations } = this.deps;
    const { ref, uid } = findChangeable(directory, query);
    await reservations.during(workOn('template', ref), async () => {
      findChangeable(directory, { ...ref, uid });
      await audit.of(caller, on ? 'mark as template' : 'remove the template mark', ref, () =>
        backends.get(ref.context).require('cloning').setTemplate(ref, on),
      );
      await directory.waitFor(ref, (vm) => vm === undefined || (isVm(vm) && vm.isTemplate === on));
    });
  }
}
