import 'reflect-metadata';
import type { FleetEntry } from '@headgate/fleet';
import { AMOUNT_FIELDS, FLAGS, LISTED_FIELDS, TEXT_FIELDS } from '@headgate/instance-query';
import { VM_STATUSES } from '@headgate/domain-contracts';
import { buildContainer, buildVm } from '@headgate/testing';
import { ENTRY_FIELDS } from './entry-fields.js';
import { presentEntry } from './present.js';

const vm = {
  node: 'n1',
  ip: '10.0.0.7',
  reason: 'Too little memory.',
  createdAt: '2026-01-31T10:00:00.000Z',
  os: 'Debian 12',
  startedAt: '2026-02-01T00:00:00Z',
};
const flags = ['agentConnected', 'isTemplate', 'liveMigratable', 'protected', 'restartRequired'] as const;
const entries: FleetEntry[] = [
  ...VM_STATUSES.map((status) => ({ instance: buildVm({ ...vm, status }), stale: false })),
  ...flags.map((flag) => ({ instance: buildVm({ [flag]: true }), stale: true, folder: 'prod/web' })),
  ...flags.map((flag) => ({ instance: buildVm({ [flag]: false, volatile: true, ready: false }), stale: false })),
  { instance: buildVm({ tags: ['a', 'b'] }), stale: false, busy: { task: 't', operation: 'start' } },
  { instance: buildContainer(), stale: false },
  {
    instance: buildContainer({ node: '', phase: 'Stopped', privileged: true, ready: false }),
    stale: true,
    folder: 'a',
  },
];

test.each([...TEXT_FIELDS])('reads %s as the list shows it', (field) => {
  for (const entry of entries)
    expect(ENTRY_FIELDS.texts[field](entry)).toEqual(LISTED_FIELDS.texts[field](presentEntry(entry)));
});

test.each([...AMOUNT_FIELDS])('reads %s as the list shows it', (field) => {
  for (const entry of entries)
    expect(ENTRY_FIELDS.amounts[field](entry)).toBe(LISTED_FIELDS.amounts[field](presentEntry(entry)));
});

test.each([...FLAGS])('reads %s as the list shows it, which some entries have and others not', (flag) => {
  const read = entries.map(ENTRY_FIELDS.flags[flag]);
  expect(read).toEqual(entries.map((entry) => LISTED_FIELDS.flags[flag](presentEntry(entry))));
  expect(new Set(read).size).toBe(2);
});
