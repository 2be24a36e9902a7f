import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { expectMembersAllowed } from '@headgate/access';
import {
  AddTarget,
  BackUpVm,
  BackupMembers,
  BackupStores,
  BackupTask,
  CheckTarget,
  CheckTask,
  CleanTarget,
  CleanTask,
  TargetState,
  type CleanInput,
  type ProveRunInput,
  DeletePoint,
  InstantRestoreTask,
  ListPoints,
  ProofSigner,
  ProofStore,
  ProvePoint,
  ProveRunTask,
  ProveTask,
  RemoveTarget,
  RestoreDisks,
  RestoreDisksTask,
  RestorePoint,
  RestoreTask,
  Retention,
} from '@headgate/backups';
import {
  Audit,
  BackendDirectory,
  BackupTargetStore,
  Clock,
  FolderDirectory,
  InstanceDirectory,
  Reservations,
  TaskRunner,
  type Caller,
  type DefinedTask,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { Settings } from '../config/load-config.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { SERVICE_VERSION } from '../platform/service-version.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AllowedFolders } from './allowed-folders.js';
import { BackupProofsController } from './backup-proofs.controller.js';
import { BackupTargetsController } from './backup-targets.controller.js';
import { BackupsController } from './backups.controller.js';
import { DiskRestoresController } from './disk-restores.controller.js';
import { ProofFiles } from './proof-files.js';
import { ProofKey } from './proof-key.js';
import { provideTask } from './provide-task.js';
import { ResticRetention } from './restic-store.js';
import { ResticStores } from './restic-stores.js';

const CLEAN_TASK = Symbol('CleanTask');
const PROVE_RUN_TASK = Symbol('ProveRunTask');
const RESTORE_TASK = Symbol('RestoreTask');
const INSTANT_RESTORE_TASK = Symbol('InstantRestoreTask');
const RESTORE_DISKS_TASK = Symbol('RestoreDisksTask');
const STORED = { targets: BackupTargetStore, stores: BackupStores } as const;
const RESTORED = { ...STORED, directory: InstanceDirectory, backends: BackendDirectory } as const;

/** Backups of VMs. Tasks are defined while the service is created, so that interrupted ones continue when it starts. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule, TasksModule],
  controllers: [BackupTargetsController, BackupProofsController, BackupsController, DiskRestoresController],
  providers: [
    {
      provide: BackupStores,
      inject: [SETTINGS, Clock],
      useFactory: ({ backups }: Settings, clock: Clock) => new ResticStores(new AllowedFolders(backups.folders), clock),
    },
    {
      provide: ProofStore,
      inject: [SETTINGS],
      useFactory: ({ dataDir }: Settings) => new ProofFiles(join(dataDir, 'backup-proofs')),
    },
    {
      provide: ProofSigner,
      inject: [SETTINGS],
      useFactory: ({ dataDir }: Settings) => new ProofKey(join(dataDir, 'backup-proof-key.pem')),
    },
    {
      provide: ProveTask,
      inject: [BackupTargetStore, BackupStores, BackendDirectory, ProofStore, ProofSigner, Clock],
      useFactory: (
        targets: BackupTargetStore,
        stores: BackupStores,
        backends: BackendDirectory,
        proofs: ProofStore,
        signer: ProofSigner,
        clock: Clock,
      ) => new ProveTask({ targets, stores, backends, proofs, signer, clock, version: SERVICE_VERSION }),
    },
    {
      provide: ProvePoint,
      inject: [BackupTargetStore, BackupStores, BackendDirectory, ProveTask, TaskRunner, Audit],
      useFactory: (
        targets: BackupTargetStore,
        stores: BackupStores,
        backends: BackendDirectory,
        definition: ProveTask,
        tasks: TaskRunner,
        audit: Audit,
      ) => new ProvePoint({ targets, stores, backends, definition, task: tasks.define(definition), audit }),
    },
    ...provideTask(PROVE_RUN_TASK, ProveRunTask, {
      ...STORED,
      proofs: ProofStore,
      proof: ProveTask,
      cleanUp: CleanTask,
      clock: Clock,
    }),
    provideClass(ResticRetention, [Clock], Retention),
    provideDeps(AddTarget, { ...STORED, audit: Audit, clock: Clock }),
    provideDeps(RemoveTarget, { ...STORED, audit: Audit, backends: BackendDirectory }),
    provideDeps(TargetState, STORED),
    provideDeps(ListPoints, STORED),
    provideDeps(DeletePoint, { ...STORED, audit: Audit }),
    {
      provide: BackUpVm,
      inject: [
        BackupTargetStore,
        BackupStores,
        Clock,
        InstanceDirectory,
        BackendDirectory,
        FolderDirectory,
        TaskRunner,
        Reservations,
        Audit,
      ],
      useFactory: (
        targets: BackupTargetStore,
        stores: BackupStores,
        clock: Clock,
        directory: InstanceDirectory,
        backends: BackendDirectory,
        folders: FolderDirectory,
        tasks: TaskRunner,
        reservations: Reservations,
        audit: Audit,
      ) => {
        const task = tasks.define(new BackupTask({ targets, stores, clock, directory, backends, folders }));
        return new BackUpVm({ directory, backends, targets, task, reservations, audit });
      },
    },
    ...provideTask(INSTANT_RESTORE_TASK, InstantRestoreTask, { ...RESTORED, clock: Clock }),
    ...provideTask(RESTORE_TASK, RestoreTask, RESTORED),
    ...provideTask(RESTORE_DISKS_TASK, RestoreDisksTask, RESTORED),
    provideDeps(RestorePoint, {
      ...RESTORED,
      task: RESTORE_TASK,
      instantTask: INSTANT_RESTORE_TASK,
      reservations: Reservations,
      audit: Audit,
    }),
    provideDeps(RestoreDisks, { ...RESTORED, task: RESTORE_DISKS_TASK, reservations: Reservations, audit: Audit }),
    ...provideTask(CLEAN_TASK, CleanTask, { ...STORED, retention: Retention, proofs: ProofStore, clock: Clock }),
    provideDeps(CleanTarget, {
      ...STORED,
      retention: Retention,
      proofs: ProofStore,
      task: CLEAN_TASK,
      audit: Audit,
    }),
    {
      provide: BackupMembers,
      inject: [BackUpVm, CLEAN_TASK, PROVE_RUN_TASK, TaskRunner],
      useFactory: (
        backUpVm: BackUpVm,
        cleanTask: DefinedTask<CleanInput>,
        proveTask: DefinedTask<ProveRunInput>,
        tasks: TaskRunner,
      ) => {
        const expectAllowed = ({ grant }: Caller, ref: InstanceRef): void =>
          expectMembersAllowed(grant, { action: 'backup' }, [ref]);
        const members = new BackupMembers({ backUpVm, cleanTask, proveTask, expectAllowed });
        tasks.defineQueue(members);
        return members;
      },
    },
    {
      provide: CheckTarget,
      inject: [BackupTargetStore, BackupStores, TaskRunner, Audit],
      useFactory: (targets: BackupTargetStore, stores: BackupStores, tasks: TaskRunner, audit: Audit) => {
        const deps = { targets, stores };
        return new CheckTarget({ ...deps, task: tasks.define(new CheckTask(deps)), audit });
      },
    },
  ],
  exports: [BackupStores],
})
export class BackupsModule {}
