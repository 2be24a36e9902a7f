import { buildVm } from '../../testing/build-vm.js';
import { bulkReport } from './bulk-report.js';

test('says how many worked, failed and were left alone, and names those that failed', () => {
  const results = [{ entry: buildVm() }, { entry: buildVm({ name: 'web-2' }), error: 'It does not answer.' }];
  const { failed, summary, text } = bulkReport('Shut down', results, 1200);
  expect(failed.map(({ entry }) => entry.name)).toEqual(['web-2']);
  expect(summary).toBe('1 done, 1 failed, 1,200 left alone.');
  expect(text).toBe('Shut down: 1 done, 1 failed, 1,200 left alone.\nvm/prod/tailvm/web-2: It does not answer.');
});
