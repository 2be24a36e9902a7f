import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  Audit,
  BackupTargetStore,
  Clock,
  Replicas,
  ScheduledSnapshotStore,
  ScheduleStore,
  TaskRunner,
  type Schedule,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { RunBulk } from '@headgate/instances';
import {
  CreateSchedule,
  DeleteSchedule,
  JobKinds,
  RunSchedule,
  ScheduleOwners,
  Scheduler,
  UpdateSchedule,
} from '@headgate/schedules';
import { TaskBoard } from '@headgate/tasks';
import { BulkModule } from '../bulk/bulk.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { Admission } from '../identity/admission.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { BackupJob } from './backup-job.js';
import { BulkJob } from './bulk-job.js';
import { SchedulesController } from './schedules.controller.js';

const CHANGE = { store: ScheduleStore, jobs: JobKinds, scheduler: Scheduler, clock: Clock, audit: Audit } as const;

/** Jobs at planned times. They begin when the instances are known, and tasks of an earlier process continue. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, IdentityModule, BulkModule],
  controllers: [SchedulesController],
  providers: [
    provideDeps(BulkJob, { runBulk: RunBulk, fleet: FleetReader, snapshots: ScheduledSnapshotStore, clock: Clock }),
    provideDeps(BackupJob, { tasks: TaskRunner, targets: BackupTargetStore, fleet: FleetReader, clock: Clock }),
    {
      provide: JobKinds,
      inject: [BulkJob, BackupJob],
      useFactory: (...kinds: [BulkJob, BackupJob]) => new JobKinds(kinds),
    },
    {
      provide: ScheduleOwners,
      inject: [Admission],
      useFactory: (admission: Admission): ScheduleOwners => ({
        callerOf: ({ owner: login, token }: Pick<Schedule, 'owner' | 'token'>) => admission.ofOwner({ login, token }),
      }),
    },
    provideDeps(Scheduler, {
      store: ScheduleStore,
      jobs: JobKinds,
      owners: ScheduleOwners,
      tasks: TaskRunner,
      replicas: Replicas,
      audit: Audit,
      clock: Clock,
      log: LOGGER,
    }),
    provideDeps(CreateSchedule, CHANGE),
    provideDeps(UpdateSchedule, CHANGE),
    provideDeps(DeleteSchedule, CHANGE),
    provideDeps(RunSchedule, CHANGE),
  ],
})
export class SchedulesModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly scheduler: Scheduler,
    private readonly fleet: FleetReader,
    private readonly tasks: TaskBoard,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start();
    this.tasks.onEnd(({ bulk }) => {
      if (bulk?.schedule) this.scheduler.wake();
    });
    void this.fleet.whenSynced().then(() => this.scheduler.resume());
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.scheduler.close();
  }
}
