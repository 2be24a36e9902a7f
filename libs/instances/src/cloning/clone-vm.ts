import {
  Change,
  DomainError,
  isRunningStatus,
  isVm,
  type Audit,
  type BackendDirectory,
  type Caller,
  type InstanceCloning,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { PlaceInstance } from '../place-instance.js';

export interface CloningDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly place: PlaceInstance;
  readonly tasks: TaskRunner;
  readonly audit: Audit;
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
    const { source, ref, cloning } = this.prepare(query, target);
    return cloning.planClone(source, ref);
  }

  override async run(query: InstanceQuery, target: string, caller: Caller): Promise<ClonedVm> {
    const { source, ref, cloning } = this.prepare(query, target);
    const { directory, tasks, audit } = this.deps;
    return audit.of(caller, `clone to ${target}`, source, async () => {
      const { remaining } = await cloning.clone(source, ref);
      const task = remaining && (await tasks.start('clone', ref, caller, remaining));
      if (task === undefined) await directory.waitFor(ref, (instance) => instance !== undefined);
      return { ref, task };
    });
  }

  /** @throws DomainError ALREADY_EXISTS, INVALID_NAME, WRONG_STATE */
  private prepare(
    query: InstanceQuery,
    name: string,
  ): { source: InstanceRef; ref: InstanceRef; cloning: InstanceCloning } {
    const vm = this.deps.directory.resolve(query);
    const { context, namespace } = vm.ref;
    const cloning = this.deps.backends.get(context).require('cloning');
    const { ref } = this.deps.place.place({ kind: 'vm', name, namespace, context });
    if (isVm(vm) && isRunningStatus(vm.status))
      throw new DomainError('WRONG_STATE', `${vm.ref.name} runs: stop it first, then clone it.`);
    return { source: vm.ref, ref, cloning };
  }
}

/** Marks a VM as a template, or removes the mark. */
export class MarkTemplate extends Change<[query: InstanceQuery, on: boolean]> {
  constructor(private readonly deps: Omit<CloningDeps, 'place' | 'tasks'>) {
    super();
  }

  override async plan(query: InstanceQuery, on: boolean): Promise<Plan> {
    const { ref } = this.deps.directory.resolve(query);
    return this.deps.backends.get(ref.context).require('cloning').planTemplate(ref, on);
  }

  override async run(query: InstanceQuery, on: boolean, caller: Caller): Promise<void> {
    const { directory, backends, audit } = this.deps;
    const { ref } = directory.resolve(query);
    await audit.of(caller, on ? 'mark as template' : 'remove the template mark', ref, () =>
      backends.get(ref.context).require('cloning').setTemplate(ref, on),
    );
    await directory.waitFor(ref, (vm) => vm === undefined || (isVm(vm) && vm.isTemplate === on));
  }
}
