import { suiteResults, type JestResults } from './suite-report.js';

const test_ = (suite: string, title: string, status: string, message?: string) => ({
  ancestorTitles: [suite],
  title,
  status,
  duration: 1540,
  ...(message !== undefined && { failureMessages: [message] }),
});
const clean = (text: string): string => text.replaceAll('secret', '***');

describe('suiteResults', () => {
  test('counts the tests of each suite, and keeps the messages of those that failed', () => {
    const results: JestResults = {
      testResults: [
        {
          message: '',
          assertionResults: [
            test_('InstancePower, kube over the cluster', 'starts', 'passed'),
            test_('InstancePower, kube over the cluster', 'stops', 'failed', 'it has a secret'),
            test_('Diagnostics, kube over the cluster', 'checks', 'passed'),
            test_('Diagnostics, kube over the cluster', 'waits', 'pending'),
          ],
        },
      ],
    };
    expect(suiteResults(results, clean)).toEqual([
      {
        suite: 'InstancePower',
        passed: 1,
        failed: 1,
        seconds: 3,
        failures: [{ test: 'stops', message: 'it has a ***' }],
      },
      { suite: 'Diagnostics', passed: 1, failed: 0, seconds: 3, failures: [] },
    ]);
  });

  test('counts a file that could not be run, or left something open, as a failure', () => {
    const passed = test_('Backend, kube over the cluster', 'opens', 'passed');
    const results = (assertionResults: JestResults['testResults'][number]['assertionResults']) =>
      suiteResults({ testResults: [{ message: 'no secret module', assertionResults }] }, clean);
    const failure = { test: 'ends in good order', message: 'no *** module' };
    expect(results([])).toMatchObject([{ passed: 0, failed: 1, failures: [failure] }]);
    expect(results([passed])).toMatchObject([
      { passed: 1, failed: 0 },
      { failed: 1, failures: [failure] },
    ]);
  });
});
