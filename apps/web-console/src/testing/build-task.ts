import type { TaskView } from '@headgate/api-contracts';

/** A running task, with overrides for the test. */
export const buildTask = (overrides: Partial<TaskView> = {}): TaskView => ({
  id: 'create-first-1',
  kind: 'create',
  status: 'running',
  log: '',
  error: '',
  ref: 'vm/prod/tailvm/first',
  caller: 'ada',
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: null,
  progress: 0.4,
  steps: [{ name: 'Write the disk', startedAt: '2026-01-01T00:00:00Z' }],
  ...overrides,
});
