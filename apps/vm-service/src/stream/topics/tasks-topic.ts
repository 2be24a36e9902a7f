import { visibleInstances } from '@headgate/access';
import type { Caller, Task } from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';
import type { TaskReader } from '@headgate/tasks';
import { presentTask } from '../../tasks/present-task.js';
import { MAX_LISTED_TASKS } from '../../tasks/readable-task.js';
import { GrantedTasks } from './granted-tasks.js';
import { Topic, type FollowedTopic, type TopicChange } from './topic.js';
import { eventText } from '../../platform/event-text.js';

/** The tasks: `snapshot` as the list, then `changed` with each that was created or changed, without its log. */
export class TasksTopic extends Topic {
  override readonly name = 'tasks';
  override readonly need = visibleInstances;

  constructor(
    private readonly tasks: TaskReader,
    private readonly fleet: FleetReader,
  ) {
    super();
  }

  override follow(reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const send = (task: Task): void =>
      publish({ topic: this.name, key: task.id, event: 'changed', data: () => presentTask(task) });
    const drop = ({ id }: Task): void => publish({ topic: this.name, key: id, event: 'removed', data: () => ({ id }) });
    const granted = reader && new GrantedTasks(reader, { send, drop });
    const closeTasks = this.tasks.subscribe((task) => (granted ? granted.changed(task) : send(task)));
    // A task is readable as its instance is.
    const closeFleet = granted && this.fleet.subscribe((change) => granted.instanceChanged(change));
    return {
      snapshot: () => {
        const recent = this.tasks.recent(MAX_LISTED_TASKS);
        const shown = granted ? granted.reset(recent) : recent;
        return [Buffer.from(eventText('tasks.snapshot', shown.map(presentTask)))];
      },
      close: () => {
        closeTasks();
        closeFleet?.();
      },
    };
  }
}
