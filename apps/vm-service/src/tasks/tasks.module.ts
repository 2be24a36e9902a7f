import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Audit, Clock, Replicas, TaskRunner, TaskStore, Reservations } from '@headgate/domain-contracts';
import { CancelTask, PastTimes, TaskBoard, TaskReader } from '@headgate/tasks';
import { AccessModule } from '../access/access.module.js';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TaskStreams } from './task-streams.js';
import { TasksController } from './tasks.controller.js';

@Module({
  imports: [AccessModule, StoreModule],
  controllers: [TasksController],
  providers: [
    provideClass(TaskBoard, [TaskStore, Clock, LOGGER, Replicas, Reservations, PastTimes]),
    { provide: TaskRunner, useExisting: TaskBoard },
    { provide: TaskReader, useExisting: TaskBoard },
    provideClass(CancelTask, [TaskRunner, Audit]),
    TaskStreams,
  ],
  exports: [TaskBoard, TaskRunner, TaskReader],
})
export class TasksModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly board: TaskBoard,
    private readonly streams: TaskStreams,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.board.recover();
  }

  /** While the service still answers: clients can read how their tasks ended. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.board.close();
    this.streams.close();
  }
}
