import { parseDomainState } from '../connection/domain-state.js';
import { statusOf } from './domain-status.js';

describe('domain state', () => {
  test.each([
    ['running (booted)\n', 'Running', true],
    ['paused (user)\n\n', 'Paused', true],
    ['paused (starting up)\n', 'Starting', true],
    ['paused (migrating)\n', 'Migrating', true],
    ['in shutdown (user)\n', 'Stopping', true],
    ['shut off (destroyed)\n', 'Stopped', false],
    ['crashed (panicked)\n', 'CrashLoopBackOff', false],
    ['pmsuspended (unknown)\n', 'Paused', true],
    ['no state\n', 'Unknown', false],
  ])('maps %j to %s', (output, status, isActive) => {
    const state = parseDomainState(output);
    expect(statusOf(state).status).toBe(status);
    expect(state.isActive).toBe(isActive);
  });

  test('gives a reason for a state that is a problem', () => {
    expect(statusOf(parseDomainState('paused (I/O error)')).reason).toContain('no space left');
    expect(statusOf(parseDomainState('shut off (crashed)'))).toEqual({
      status: 'Stopped',
      reason: expect.stringContaining('QEMU'),
    });
    for (const problem of ['shut off (failed)', 'shut off (daemon)', 'paused (watchdog)', 'crashed (panicked)'])
      expect(statusOf(parseDomainState(problem)).reason).toMatch(/^[A-Z].*\.$/);
    for (const usual of ['shut off (shutdown)', 'shut off (destroyed)', 'paused (user)'])
      expect(statusOf(parseDomainState(usual)).reason).toBeUndefined();
  });
});
