import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { BackendDirectory, INSTANCE_KINDS, isVm, parseRef } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { PastTimes, TaskBoard } from '@headgate/tasks';
import { FleetModule } from './fleet/fleet.module.js';
import { PluginsModule } from './plugins/plugins.module.js';
import { StoreModule } from './store/store.module.js';
import { TasksModule } from './tasks/tasks.module.js';

/**
 * Continues the tasks of an earlier process when every context was listed or lost: they need the backends and the
 * plugins.
 */
@Module({ imports: [StoreModule, TasksModule, FleetModule, PluginsModule] })
export class ResumedTasksModule implements OnApplicationBootstrap {
  constructor(
    private readonly board: TaskBoard,
    private readonly fleet: FleetReader,
    private readonly times: PastTimes,
    private readonly backends: BackendDirectory,
  ) {}

  /** One sentence about the state of an instance, for a task that makes no progress. */
  private describe(text: string): string | undefined {
    // Images are not in the fleet.
    if (!INSTANCE_KINDS.some((kind) => text.startsWith(`${kind}/`))) return undefined;
    const ref = parseRef(text);
    const instance = this.fleet.get(ref);
    if (!instance) return `${ref.name} is not in the list of its context.`;
    return `${ref.name} is ${isVm(instance) ? instance.status : instance.phase}.`;
  }

  onApplicationBootstrap(): void {
    this.board.describeWith((ref) => this.describe(ref));
    const kinds = new Map(this.backends.all().map(({ context, kind }) => [context, kind]));
    this.times.compareBy((context) => kinds.get(context));
    void this.fleet.whenSynced().then(() => this.board.resume());
  }
}
