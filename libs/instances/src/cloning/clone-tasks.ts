import type { BackendDirectory, InstanceCloning, InstanceRef } from '@headgate/domain-contracts';
import { enginePatience, EngineTasks, type EngineTasksDeps } from '../engine-tasks.js';

export interface CloneTasksDeps extends EngineTasksDeps {
  readonly backends: BackendDirectory;
}

interface CloneParams {
  /** The name of the clone. */
  readonly target: string;
}

/** The tasks that clone instances. They continue after a restart. */
export class CloneTasks {
  readonly clones: EngineTasks<CloneParams>;

  constructor({ backends, ...deps }: CloneTasksDeps) {
    const cloningOf = ({ kind, context }: InstanceRef): InstanceCloning =>
      backends.get(context).requireFor(kind, 'cloning');
    const targetOf = (source: InstanceRef, { target }: CloneParams): InstanceRef => ({ ...source, name: target });
    this.clones = new EngineTasks<CloneParams>(deps, {
      kind: 'clone',
      label: ({ target }) => `the clone ${target}`,
      patience: ({ target }) =>
        enginePatience(`the clone ${target}`, `The backend may still complete ${target}: delete it then.`),
      isCancelable: () => true,
      begin: async (source, params, key) =>
        (await cloningOf(source).clone(source, targetOf(source, params), key)).remaining,
      stateOf: (source, params, key) => cloningOf(source).stateOf(source, targetOf(source, params), key),
      resume: (source, params, key) => cloningOf(source).resume(source, targetOf(source, params), key),
      discard: (source, params, key) => cloningOf(source).discard(source, targetOf(source, params), key),
    });
  }
}
