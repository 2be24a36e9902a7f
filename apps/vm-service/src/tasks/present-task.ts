import type { TaskView } from '@headgate/api-contracts';
import type { Task } from '@headgate/domain-contracts';

export const presentTask = ({ members, ...task }: Task): TaskView => ({
  ...task,
  steps: [...task.steps],
  ...(members ? { members: [...members] } : {}),
});
