import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, Reservations, TaskRunner } from '@headgate/domain-contracts';
import { FleetReader, nodePromises } from '@headgate/fleet';
import { CordonNode, DrainMembers, DrainNode, LeaveNode, PlanDrain } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { INSTANCE_CHANGE } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { NodesController } from './nodes.controller.js';

/** Cordons and drains of nodes. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [NodesController],
  providers: [
    provideClass(CordonNode, [BackendDirectory, Audit]),
    {
      provide: PlanDrain,
      inject: [BackendDirectory, Reservations, FleetReader],
      useFactory: (backends: BackendDirectory, reservations: Reservations, fleet: FleetReader) =>
        new PlanDrain({
          backends,
          reservations,
          promisedIn: (context) => nodePromises(context, [...fleet.all('vm'), ...fleet.all('ct')]),
        }),
    },
    provideDeps(LeaveNode, { ...INSTANCE_CHANGE, tasks: TaskRunner }),
    provideClass(DrainMembers, [LeaveNode, BackendDirectory]),
    // Registered while the service is created, so that interrupted drains are continued when it starts.
    provideDeps(DrainNode, {
      backends: BackendDirectory,
      planDrain: PlanDrain,
      tasks: TaskRunner,
      members: DrainMembers,
      audit: Audit,
    }),
  ],
})
export class NodesModule {}
