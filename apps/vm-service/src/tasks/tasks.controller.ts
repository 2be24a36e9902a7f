import { Controller, Get, Param } from '@nestjs/common';
import { TaskView } from '@headgate/api-contracts';
import type { Task } from '@headgate/domain-contracts';
import { TaskReader } from '@headgate/tasks';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** The most tasks in the list. */
const MAX_LISTED_TASKS = 100;

@Controller('api/tasks')
export class TasksController {
  constructor(private readonly tasks: TaskReader) {}

  @Get()
  @Describe('The last 100 tasks, the newest first.', answerList(200, TaskView))
  recent(): TaskView[] {
    return this.tasks.recent(MAX_LISTED_TASKS).map(present);
  }

  @Get(':id')
  @Describe('One task with its log.', answer(200, TaskView))
  one(@Param('id') id: string): TaskView {
    return present(this.tasks.get(id));
  }
}

const present = ({ members, ...task }: Task): TaskView => ({
  ...task,
  steps: [...task.steps],
  ...(members ? { members: [...members] } : {}),
});
