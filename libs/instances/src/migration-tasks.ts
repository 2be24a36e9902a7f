import type { BackendDirectory, InstanceMigration, InstanceRef } from '@headgate/domain-contracts';
import { enginePatience, EngineTasks, type EngineTasksDeps } from './engine-tasks.js';

export interface MigrationTasksDeps extends EngineTasksDeps {
  readonly backends: BackendDirectory;
}

interface MigrationParams {
  /** Absent: the backend chooses. */
  readonly targetNode?: string;
}

/** The tasks that migrate VMs. They continue after a restart. */
export class MigrationTasks {
  readonly migrations: EngineTasks<MigrationParams>;

  constructor({ backends, ...deps }: MigrationTasksDeps) {
    const migrationOf = ({ context }: InstanceRef): InstanceMigration => backends.get(context).require('migration');
    this.migrations = new EngineTasks<MigrationParams>(deps, {
      kind: 'migrate',
      label: () => 'the migration',
      patience: () =>
        enginePatience('the migration', 'The backend may still migrate the guest: it runs on one of the two nodes.'),
      isCancelable: () => true,
      begin: (ref, { targetNode }, key) => migrationOf(ref).migrate(ref, targetNode, key),
      stateOf: (ref, _order, key) => migrationOf(ref).stateOf(ref, key),
      resume: (ref, _order, key) => migrationOf(ref).resume(ref, key),
      discard: (ref, _order, key) => migrationOf(ref).discard(ref, key),
    });
  }
}
