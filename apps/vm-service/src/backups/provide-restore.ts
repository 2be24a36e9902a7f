import type { FactoryProvider } from '@nestjs/common';
import { BackupStores, type RestoreTaskDeps } from '@headgate/backups';
import {
  Audit,
  BackendDirectory,
  BackupTargetStore,
  InstanceDirectory,
  Reservations,
  TaskRunner,
  type DefinedTask,
  type TaskDefinition,
} from '@headgate/domain-contracts';

interface RestoreDeps<Input extends object> extends RestoreTaskDeps {
  readonly task: DefinedTask<Input>;
  readonly reservations: Reservations;
  readonly audit: Audit;
}

/** Provides a restore, and defines the task that carries it out. */
export const provideRestore = <Input extends object, T>(
  useClass: new (deps: RestoreDeps<Input>) => T,
  definition: new (deps: RestoreTaskDeps) => TaskDefinition<Input>,
): FactoryProvider<T> => ({
  provide: useClass,
  inject: [BackupTargetStore, BackupStores, InstanceDirectory, BackendDirectory, TaskRunner, Reservations, Audit],
  useFactory: (
    targets: BackupTargetStore,
    stores: BackupStores,
    directory: InstanceDirectory,
    backends: BackendDirectory,
    tasks: TaskRunner,
    reservations: Reservations,
    audit: Audit,
  ) => {
    const deps = { targets, stores, directory, backends };
    return new useClass({ ...deps, task: tasks.define(new definition(deps)), reservations, audit });
  },
});
