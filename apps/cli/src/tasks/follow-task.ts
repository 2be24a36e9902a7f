import type { TaskView } from '@headgate/api-contracts';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { followEvents, type FollowOptions } from '../client/event-stream.js';
import { EXIT_CODES } from '../exit-codes.js';
import { interruption } from '../terminal/prompt.js';
import type { Environment } from '../terminal/environment.js';
import { TaskProgress } from './task-progress.js';

/** The error of a task that has failed. */
export const taskFailure = ({ id, error }: TaskView): ClientError =>
  new ClientError('TASK_FAILED', `The task ${id} has failed: ${error || 'it gives no reason.'}`, EXIT_CODES.failed);

/**
 * Follows a task until it ends, and shows its log and its progress on standard error.
 * @returns the ended task
 * @throws ClientError when Ctrl-C ends the program; the task goes on
 */
export async function followTask(
  api: ApiClient,
  environment: Environment,
  id: string,
  wait?: FollowOptions['wait'],
): Promise<TaskView> {
  const { stderr, interrupted } = environment;
  const progress = new TaskProgress(stderr);
  const path = `/api/tasks/${encodeURIComponent(id)}` as const;
  const events = followEvents(api.http, path, {
    signal: interrupted,
    onLost: ({ message }, seconds) => progress.note(`${message} Trying again in ${seconds} s.`),
    ...(wait ? { wait } : {}),
  });
  try {
    for await (const { event, data } of events) {
      if (event === 'log') progress.log((JSON.parse(data) as { text: string }).text);
      if (event !== 'snapshot' && event !== 'changed') continue;
      const task = JSON.parse(data) as TaskView;
      if (event === 'snapshot') progress.log(task.log);
      progress.show(task);
      if (task.status !== 'running') return await api.get(path);
    }
  } finally {
    progress.end();
  }
  throw interruption(
    `Interrupted. The task goes on: follow it with "headgate task -f ${id}", or cancel it with "headgate task cancel ${id}".`,
  );
}
