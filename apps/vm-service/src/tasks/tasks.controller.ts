import { Controller, Get, Param } from '@nestjs/common';
import { TaskView } from '@headgate/api-contracts';
import type { Task } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';

/** How many tasks the list shows. */
const RECENT = 100;

@Controller('api/tasks')
export class TasksController {
  constructor(private readonly tasks: TaskBoard) {}

  @Get()
  @Describe('The last tasks, the newest first.', answerList(200, TaskView))
  recent(): TaskView[] {
    return this.tasks.recent(RECENT).map(present);
  }

  @Get(':id')
  @Describe('One task with its log.', answer(200, TaskView))
  one(@Param('id') id: string): TaskView {
    return present(this.tasks.get(id));
  }
}

const present = (task: Task): TaskView => ({ ...task, steps: [...task.steps] });
