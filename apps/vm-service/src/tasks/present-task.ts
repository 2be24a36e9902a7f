import type { TaskView } from '@headgate/api-contracts';
import type { Task } from '@headgate/domain-contracts';

export const presentTask = ({ members, timedAs: _timedAs, ...task }: Task): TaskView => ({
  ...task,
  steps: task.steps.map(({ parts: _parts, ...step }) => step),
  ...(members ? { members: [...members] } : {}),
});
