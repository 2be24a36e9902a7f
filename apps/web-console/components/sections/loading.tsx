import { ListStates } from '../../src/shared/ui/list-states.js';
import { Skeleton, Spinner } from '../../src/shared/ui/loading.js';
import { Progress } from '../../src/shared/ui/progress.js';
import { buildTask } from '../../src/testing/build-task.js';
import { TaskBar } from '../../src/shared/tasks/task-bar.js';
import { Section, State } from '../demo.js';

const BEGIN = '2026-01-15T10:55:00Z';
const copying = {
  progress: 0.4,
  steps: [{ name: 'Copy the disk', startedAt: BEGIN }],
  transfer: { doneBytes: 1.5 * 2 ** 30, totalBytes: 4 * 2 ** 30, bytesPerSecond: 2 ** 26, remainingSeconds: 40 },
};

const List = (query: { data: string[] | undefined; error: Error | null }) => (
  <ListStates
    query={{ ...query, refetch: () => undefined }}
    failure="Couldn't load the names"
    loading="Loading the names"
    empty="No names yet"
  >
    {(names) => <p>{names.join(', ')}</p>}
  </ListStates>
);

export const Loading = () => (
  <Section title="Waiting and progress">
    <State name="Waiting">
      <Spinner label="Loading the VM" />
    </State>
    <State name="Place of content">
      <Skeleton height="64px" label="Loading the events" />
    </State>
    <State name="List, empty">
      <List data={[]} error={null} />
    </State>
    <State name="List, failed">
      <List data={undefined} error={new Error('The service does not answer.')} />
    </State>
    <State name="List, loaded">
      <List data={['web-1', 'web-2']} error={null} />
    </State>
    <State name="Progress">
      <Progress title="Copying" percent={40} label="40%" />
    </State>
    <State name="Task, running">
      <TaskBar task={buildTask(copying)} />
    </State>
    <State name="Task, done">
      <TaskBar task={buildTask({ status: 'done', finishedAt: BEGIN })} />
    </State>
    <State name="Task, failed">
      <TaskBar task={buildTask({ status: 'error', error: 'The storage pool is full.', finishedAt: BEGIN })} />
    </State>
  </Section>
);
