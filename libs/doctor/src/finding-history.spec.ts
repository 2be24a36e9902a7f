import type { DiagnosticCheck } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import type { ContextCheck } from './check-backends.js';
import { FindingHistory } from './finding-history.js';

const check = (name: string, status: DiagnosticCheck['status'], context = 'lab'): ContextCheck => ({
  name,
  status,
  context,
  message: '',
  fixable: false,
  remedy: '',
});

describe('FindingHistory', () => {
  const clock = new FixedClock();
  let history: FindingHistory;
  beforeEach(() => (history = new FindingHistory(clock)));
  const observe = (...found: ContextCheck[]): void => history.begin()(found);
  const since = (name: string, context = 'lab'): string | undefined => history.since({ context, name });
  const now = (): string => new Date(clock.now()).toISOString();

  test('does not know the age of what fails at the first check of a context, now or later', () => {
    observe(check('kvm', 'error'));
    expect(since('kvm')).toBeUndefined();
    observe(check('kvm', 'error'), check('new', 'warning', 'other'));
    expect([since('kvm'), since('new', 'other')]).toEqual([undefined, undefined]);
  });

  test('keeps the time of the first failure, also when the severity differs, until the check passes', () => {
    observe(check('kvm', 'ok'));
    const first = now();
    observe(check('kvm', 'warning'));
    clock.advance(60_000);
    observe(check('kvm', 'error'));
    expect(since('kvm')).toBe(first);
    observe(check('kvm', 'ok'));
    expect(since('kvm')).toBeUndefined();
    observe(check('kvm', 'error'));
    expect(since('kvm')).toBe(now());
    expect(now()).not.toBe(first);
  });

  test('dates a check that appears later as failed, and forgets checks that are gone', () => {
    observe(check('kvm', 'ok'));
    observe(check('kvm', 'ok'), check('plugin', 'error'));
    expect(since('plugin')).toBe(now());
    observe(check('kvm', 'ok'));
    expect(since('plugin')).toBeUndefined();
  });

  test('ignores a result that is older than the last one', () => {
    observe(check('kvm', 'ok'));
    const slow = history.begin();
    observe(check('kvm', 'error'));
    const first = now();
    clock.advance(60_000);
    slow([check('kvm', 'ok')]);
    observe(check('kvm', 'error'));
    expect(since('kvm')).toBe(first);
  });
});
