import type { ChainedJournalEntry } from '@headgate/domain-contracts';

/** An entry of the journal with this number. */
export const buildEntry = (number: number, changes: Partial<ChainedJournalEntry> = {}): ChainedJournalEntry => ({
  number,
  time: '2026-01-02T03:04:05.678Z',
  caller: 'ann',
  token: '',
  address: '192.0.2.7',
  kind: 'action',
  action: 'stop',
  route: 'POST /api/vms/:ns/:name/stop',
  ref: 'vm/lab/default/db',
  outcome: 'ok',
  status: null,
  code: '',
  message: '',
  links: { previousAction: '0'.repeat(64), previousRequest: '0'.repeat(64), hash: 'a'.repeat(64) },
  ...changes,
});
