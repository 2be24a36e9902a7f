import { buildVm } from '../../testing/build-vm.js';
import { bulkReport } from './bulk-report.js';

test('counts successes, failures, and skipped instances, and names the failures', () => {
  const results = [{ entry: buildVm() }, { entry: buildVm({ name: 'web-2' }), error: 'It does not respond.' }];
  const { failed, summary, text } = bulkReport('Shut down', results, 1200);
  expect(failed.map(({ entry }) => entry.name)).toEqual(['web-2']);
  expect(summary).toBe('1 succeeded, 1 failed, 1,200 skipped.');
  expect(text).toBe('Shut down: 1 succeeded, 1 failed, 1,200 skipped.\nvm/prod/tailvm/web-2: It does not respond.');
});
