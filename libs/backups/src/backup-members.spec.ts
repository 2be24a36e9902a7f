import {
  ADMINISTRATOR,
  DomainError,
  MemberSkipped,
  type BulkRequest,
  type Caller,
  type InstanceRef,
  type TaskMember,
} from '@headgate/domain-contracts';
import { BackupMembers } from './backup-members.js';
import type { ProveRunInput } from './prove-run-task.js';
import type { CleanInput } from './target-care.js';

const TARGET = 'feed000000000001';
const ANN: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const WEB: InstanceRef = { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' };
const REQUEST: BulkRequest = {
  action: 'backup',
  backup: { target: TARGET, keep: { last: 2 }, timeZone: 'Europe/Berlin' },
  schedule: { id: 'night', planned: '2026-01-01T00:00:00Z' },
};

describe('the backups of many VMs', () => {
  let started: unknown[];
  let cleaned: CleanInput[];
  let proved: ProveRunInput[];
  let failure: Error | undefined;
  let lines: string[];
  let members: BackupMembers;

  beforeEach(() => {
    [started, cleaned, proved, lines, failure] = [[], [], [], [], undefined];
    members = new BackupMembers({
      backUpVm: {
        runAs: async (id, ref, order) => {
          if (failure) throw failure;
          started.push([id, ref, order]);
          return id;
        },
      },
      cleanTask: { start: async ({ input }) => (cleaned.push(input), 'clean-backups-1') },
      proveTask: { start: async ({ input }) => (proved.push(input), 'prove-backups-1') },
      expectAllowed: ({ login }) => {
        if (login !== 'ann') throw new DomainError('NOT_PERMITTED', 'bob has no right to backup 1 of them.');
      },
    });
  });

  const start = (caller = ANN) => members.start(REQUEST, WEB, { task: 'backup-web-1', caller });
  const afterwards = (statuses: readonly TaskMember['status'][], request = REQUEST) =>
    members.afterwards(
      request,
      statuses.map((status, index) => ({ ref: `vm/lab/default/v${index}`, status, task: `task-${index}` })),
      { caller: ANN, log: (line) => void lines.push(line) },
    );

  test('begin with the ID of their member and the schedule, and share engines and targets', async () => {
    await start();
    expect(started).toEqual([['backup-web-1', WEB, { target: TARGET, schedule: 'night' }]]);
    expect(members.hostsOf(REQUEST, WEB)).toEqual(['lab', `backup-target/${TARGET}`]);
  });

  test('are refused for a caller who has lost the right to the VM', async () => {
    await expect(start({ ...ANN, login: 'bob' })).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(started).toEqual([]);
  });

  test.each([
    ['skipped', 'is being backed up', new DomainError('BUSY', 'a', { details: { action: 'backup', task: 'b-1' } })],
    [
      'skipped',
      'is being backed up while it is off',
      new DomainError('BUSY', 'a', { details: { action: 'backup-stopped' } }),
    ],
    ['skipped', 'has a context without backups', new DomainError('NOT_SUPPORTED', 'Clusters have no backups.')],
    ['failures', 'is moved', new DomainError('BUSY', 'a', { details: { action: 'move' } })],
    ['failures', 'is used elsewhere', new DomainError('BUSY', 'a')],
    ['failures', 'is gone', new DomainError('INSTANCE_NOT_FOUND', 'a')],
  ])('are %s when the VM %s', async (result, _what, error) => {
    failure = error;
    const thrown: unknown = await start().catch((reason: unknown) => reason);
    expect([thrown instanceof MemberSkipped, (thrown as Error).message]).toEqual([result === 'skipped', error.message]);
  });

  test('are followed by the rules of the schedule for those that succeeded', async () => {
    await afterwards(['done', 'error', 'skipped', 'done']);
    expect(cleaned).toEqual([
      {
        target: TARGET,
        rules: { last: 2 },
        timeZone: 'Europe/Berlin',
        only: { schedule: 'night', tasks: ['task-0', 'task-3'] },
      },
    ]);
    expect(lines).toEqual([expect.stringContaining('clean-backups-1')]);
  });

  test.each([
    ['no backup succeeded', ['error', 'skipped'], REQUEST],
    ['there are no rules', ['done'], { ...REQUEST, backup: { target: TARGET } }],
    ['the rules keep nothing', ['done'], { ...REQUEST, backup: { target: TARGET, keep: { last: 0 } } }],
    ['no schedule has asked for them', ['done'], { action: 'backup', backup: REQUEST.backup }],
  ] as const)('delete nothing when %s', async (_what, statuses, request) => {
    await afterwards(statuses, request as BulkRequest);
    expect(cleaned).toEqual([]);
  });

  test('are booted afterwards if the schedule says so, before the clean-up, and only those that succeeded', async () => {
    const backup = { ...REQUEST.backup!, prove: true, onlyIfProved: true };
    const tasks = ['task-0', 'task-2'];
    await afterwards(['done', 'error', 'done', 'skipped'], { ...REQUEST, backup });
    expect(proved).toEqual([
      { target: TARGET, tasks, clean: expect.objectContaining({ onlyIfProved: true, rules: { last: 2 } }) },
    ]);
    expect(lines).toHaveLength(1);
    const { keep: _keep, ...withoutRules } = backup;
    await afterwards(['done'], { ...REQUEST, backup: withoutRules });
    expect(proved.at(-1)).toEqual({ target: TARGET, tasks: ['task-0'] });
    expect(cleaned).toEqual([]);
    await afterwards(['error'], { ...REQUEST, backup });
    await afterwards(['done']);
    expect([proved.length, cleaned.length]).toEqual([2, 1]);
  });
});
