import type { BackendDirectory, InstanceCloning, InstanceRef } from '@headgate/domain-contracts';
import { enginePatience, EngineTasks, type EngineTasksDeps } from '../engine-tasks.js';

export interface CloneTasksDeps extends EngineTasksDeps {
  readonly backends: BackendDirectory;
}

interface CloneOrder {
  /** The name of the clone. */
  readonly target: string;
}

/** The tasks that clone VMs. They continue after a restart. */
export class CloneTasks {
  readonly clones: EngineTasks<CloneOrder>;

  constructor({ backends, ...deps }: CloneTasksDeps) {
    const cloningOf = ({ context }: InstanceRef): InstanceCloning => backends.get(context).require('cloning');
    const targetOf = (source: InstanceRef, { target }: CloneOrder): InstanceRef => ({ ...source, name: target });
    this.clones = new EngineTasks<CloneOrder>(deps, {
      kind: 'clone',
      label: ({ target }) => `the clone ${target}`,
      patience: ({ target }) =>
        enginePatience(`the clone ${target}`, `The backend may still complete ${target}: delete it then.`),
      isCancelable: () => true,
      begin: async (source, order, key) =>
        (await cloningOf(source).clone(source, targetOf(source, order), key)).remaining,
      stateOf: (source, order, key) => cloningOf(source).stateOf(source, targetOf(source, order), key),
      resume: (source, order, key) => cloningOf(source).resume(source, targetOf(source, order), key),
      discard: (source, order, key) => cloningOf(source).discard(source, targetOf(source, order), key),
    });
  }
}
