import type { Task } from '@headgate/domain-contracts';
import type { TaskBoard } from '@headgate/tasks';

/** A bulk task with its members, which the board leaves out of lists and of the report of its end. */
export function withMembers(board: Pick<TaskBoard, 'get'>, task: Task): Task {
  if (!task.bulk) return task;
  try {
    return { ...task, members: board.get(task.id).members ?? [] };
  } catch {
    // It was removed from the store meanwhile.
    return { ...task, members: [] };
  }
}
