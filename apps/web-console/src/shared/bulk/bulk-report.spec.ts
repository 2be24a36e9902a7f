import { buildTask } from '../../testing/build-task.js';
import { bulkReport, nameOfRef } from './bulk-report.js';

test('counts successes, failures, and skipped instances, and names the failures', () => {
  const task = buildTask({
    kind: 'bulk',
    bulk: { action: 'stop', counts: { waiting: 0, running: 0, done: 1, error: 1, skipped: 200 } },
    members: [
      { ref: 'vm/prod/tailvm/web-1', status: 'done' },
      { ref: 'vm/prod/tailvm/web-2', status: 'error', error: 'It does not respond.' },
    ],
  });
  const { failed, unfinished, summary, text } = bulkReport('Shut down', task, 1000);
  expect(failed.map(({ ref }) => nameOfRef(ref))).toEqual(['tailvm/web-2']);
  expect(unfinished).toBe(201);
  expect(summary).toBe('1 succeeded, 1 failed, 1,200 skipped.');
  expect(text).toBe('Shut down: 1 succeeded, 1 failed, 1,200 skipped.\nvm/prod/tailvm/web-2: It does not respond.');
});
