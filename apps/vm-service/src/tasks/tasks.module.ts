import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, TaskRunner, TaskStore } from '@headgate/domain-contracts';
import { TaskBoard, TaskReader } from '@headgate/tasks';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksController } from './tasks.controller.js';

@Module({
  imports: [StoreModule],
  controllers: [TasksController],
  providers: [
    provideClass(TaskBoard, [TaskStore, Clock, LOGGER]),
    { provide: TaskRunner, useExisting: TaskBoard },
    { provide: TaskReader, useExisting: TaskBoard },
  ],
  exports: [TaskRunner, TaskReader],
})
export class TasksModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(private readonly board: TaskBoard) {}

  onApplicationBootstrap(): void {
    this.board.recover();
  }

  /** While the service still answers: clients can read how their tasks ended. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.board.close();
  }
}
