import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { FleetReader } from '@headgate/fleet';
import { TaskBoard } from '@headgate/tasks';
import { FleetModule } from '../fleet/fleet.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { TasksModule } from './tasks.module.js';

/** Continues the tasks of an earlier process when every context was listed or lost: they need the backends and the plugins. */
@Module({ imports: [TasksModule, FleetModule, PluginsModule] })
export class ResumedTasksModule implements OnApplicationBootstrap {
  constructor(
    private readonly board: TaskBoard,
    private readonly fleet: FleetReader,
  ) {}

  onApplicationBootstrap(): void {
    void this.fleet.whenSynced().then(() => this.board.resume());
  }
}
