import { Controller, Get, Param } from '@nestjs/common';
import type { TaskView } from '@headgate/api-contracts';
import type { Task } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';

/** How many tasks the list shows. */
const RECENT = 100;

@Controller('api/tasks')
export class TasksController {
  constructor(private readonly tasks: TaskBoard) {}

  @Get()
  recent(): TaskView[] {
    return this.tasks.recent(RECENT).map(present);
  }

  @Get(':id')
  one(@Param('id') id: string): TaskView {
    return present(this.tasks.get(id));
  }
}

const present = (task: Task): TaskView => ({ ...task, steps: [...task.steps] });
