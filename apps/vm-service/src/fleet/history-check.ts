import type { ContextCheck } from '@headgate/doctor';
import type { FleetHistory } from '@headgate/history';

/** The doctor's check of the history of the fleet. It is about the machine of the service, which is no context. */
export function checkFleetHistory(history: Pick<FleetHistory, 'status'> | undefined): ContextCheck {
  const check = { name: 'fleet-history', context: 'service/history', fixable: false };
  if (!history) return { ...check, status: 'ok', message: 'The history of the fleet is switched off.', remedy: '' };
  const { status } = history;
  if (status.state !== 'paused')
    return { ...check, status: 'ok', message: 'The history of the fleet is recorded.', remedy: '' };
  const since = new Date(status.since).toISOString();
  return {
    ...check,
    title: 'The history of the fleet is not recorded',
    status: 'warning',
    message: `The history of the fleet has not been recorded since ${since}: ${status.reason}`,
    remedy:
      'Make space on the disk of the data directory, and check the permissions of its folder fleet-history. The recording goes on automatically.',
  };
}
