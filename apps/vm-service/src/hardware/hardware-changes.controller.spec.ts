import 'reflect-metadata';
import { DomainError, type HardwareChange, type InstanceRef } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';
import { holdMethod } from '../testing/hold-method.js';

const WEB = '/api/ext/vms/default/web';
const DB = '/api/ext/vms/default/db';

interface Plan {
  readonly effect: string;
  readonly steps: readonly { name: string }[];
  readonly warnings: readonly string[];
  readonly refusals: readonly { code: string; reason: string; remedy: string }[];
  readonly changes: readonly {
    index: number;
    action: string;
    before: string;
    after: string;
    effect: string;
    refusals: readonly object[];
  }[];
}

/** One change of each part that VMs in memory have. */
const ALL = [
  { kind: 'scale', cpu: 3, mem: '1Gi' },
  { kind: 'set-boot-order', devices: ['vda'] },
  { kind: 'attach-volume', size: '2Gi' },
  { kind: 'expand-volume', pvc: 'root', size: '40Gi' },
  { kind: 'add-nic', iface: 'lan', nad: 'lan-1' },
  { kind: 'set-autostart', on: true },
  { kind: 'set-placement', placement: { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } } },
];

const nics = (length: number) => Array.from({ length }, (_, index) => ({ kind: 'remove-nic', iface: `n${index}` }));

describe('POST /api/ext/vms/{ns}/{name}/hardware', () => {
  let edge: Edge;
  beforeEach(async () => void (edge = await new Edge(new MemoryBackend('lab', { nodeCount: 1 })).open()));
  afterEach(() => edge.close());

  const send = (changes: unknown, path = WEB, query = '', headers = {}): Promise<Reply> =>
    edge.send('POST', `${path}/hardware${query}`, { changes }, headers);
  const hardware = async (path = WEB) => (await edge.send('GET', `${path}/hardware`)).json;
  const planOf = async (changes: unknown, path = WEB, query = ''): Promise<Plan> =>
    (await send(changes, path, `?dryRun=true${query}`)).json as unknown as Plan;

  test('makes all changes, in an order that destroys as little as possible when one fails', async () => {
    const { status, json } = await send(ALL);
    expect([status, json]).toMatchObject([200, { status: 'ok', effect: 'next-start', pending: [] }]);
    expect(json['changes']).toContainEqual({
      index: 2,
      action: 'add a disk of 2Gi',
      effect: 'next-start',
      pvc: 'disk-2',
    });
    expect((json['changes'] as { index: number }[]).map(({ index }) => index)).toEqual([3, 2, 4, 5, 1, 6, 0]);
    expect(await hardware()).toMatchObject({
      cpu: 3,
      mem: '1Gi',
      autostart: true,
      bootOrder: ['vda'],
      disks: [
        { pvc: 'root', size: '40Gi' },
        { pvc: 'disk-2', size: '2Gi' },
      ],
      nics: [{ iface: 'lan', nad: 'lan-1' }],
      placement: { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } },
    });
  });

  test('plans all changes with the values before and after them, and changes nothing', async () => {
    const before = await hardware();
    const plan = await planOf(ALL);
    expect(plan.refusals).toEqual([]);
    expect(plan.changes.map(({ index, action, before: old, after }) => [index, action, old, after])).toEqual([
      [3, 'expand volume root to 40Gi', '20Gi', '40Gi'],
      [2, 'add a disk of 2Gi', '', '2Gi'],
      [4, 'add NIC lan on lan-1', '', 'lan-1'],
      [5, 'turn autostart on', 'off', 'on'],
      [1, 'boot from vda', 'vda', 'vda'],
      [6, 'pin CPU 0 to 1', '', 'pin CPU 0 to 1'],
      [0, 'scale to 3 CPUs and 1Gi of memory', '2 CPUs, 4Gi', '3 CPUs, 1Gi'],
    ]);
    expect(plan.steps.length).toBeGreaterThanOrEqual(7);
    expect(await hardware()).toEqual(before);
  });

  test('says of each change when it takes effect, and restarts once, last, and only on request', async () => {
    const changes = [
      { kind: 'scale', mem: '1Gi' },
      { kind: 'set-boot-order', devices: ['vda'] },
      { kind: 'attach-volume', size: '1Gi' },
    ];
    const effects = async (query = '') =>
      (await planOf(changes, DB, query)).changes.map(({ index, effect }) => [index, effect]);
    expect(await effects()).toEqual([
      [2, 'now'],
      [1, 'next-start'],
      [0, 'next-start'],
    ]);
    expect(await effects('&restart=true')).toEqual([
      [2, 'now'],
      [1, 'restart'],
      [0, 'restart'],
    ]);
    const waiting = await send(changes, DB);
    expect(waiting.json).toMatchObject({ effect: 'next-start', pending: [{ field: 'memory' }] });
    const found = async (q: string) => (await edge.send('GET', `/api/vms?q=${encodeURIComponent(q)}`)).json;
    expect(await found('pending>0')).toMatchObject([{ name: 'db', pendingCount: 1 }]);
    expect(await found('name:db pending:0')).toEqual([]);
    expect((await edge.send('GET', '/api/vms?q=pending%3Emany')).json.error).toMatch(/a number such as 0/);
    const restarted = await send([{ kind: 'scale', mem: '2Gi' }], DB, '?restart=true');
    expect(restarted.json).toMatchObject({ effect: 'restart', pending: [], changes: [{ effect: 'restart' }] });
    expect(await found('pending>0')).toEqual([]);
  });

  test('changes nothing when one change is refused, and lists every refusal with the way out', async () => {
    const before = await hardware();
    const changes = [
      { kind: 'attach-volume', size: '1Gi' },
      { kind: 'remove-nic', iface: 'none' },
      { kind: 'expand-volume', pvc: 'missing', size: '50Gi' },
    ];
    const { status, json } = await send(changes);
    expect([status, json.code]).toEqual([404, 'DEVICE_NOT_FOUND']);
    expect((json['details'] as { refusals: object[] }).refusals).toHaveLength(2);
    const plan = await planOf(changes);
    expect(plan.refusals).toHaveLength(2);
    expect(plan.refusals.every(({ remedy }) => remedy !== '')).toBe(true);
    expect(plan.changes.map(({ index, refusals }) => [index, refusals.length])).toEqual([
      [2, 1],
      [0, 0],
      [1, 1],
    ]);
    expect(await hardware()).toEqual(before);
  });

  test('leaves out the changes that have nothing to change', async () => {
    const { json } = await send([
      { kind: 'scale', cpu: 2 },
      { kind: 'attach-volume', size: '1Gi' },
    ]);
    expect((json['changes'] as { index: number }[]).map(({ index }) => index)).toEqual([1]);
    expect((await send([{ kind: 'scale', cpu: 2 }])).json).toMatchObject({ effect: 'now', changes: [] });
  });

  describe('when a change fails midway', () => {
    test.each([0, 1, 2, 3, 4, 5, 6])('at change %i, keeps those before it and names them', async (failing) => {
      const ability = edge.lab.require('hardware');
      const apply = ability.apply.bind(ability);
      const done: string[] = [];
      ability.apply = async (ref: InstanceRef, change: HardwareChange) => {
        if (done.length === failing) throw new DomainError('BACKEND_TIMEOUT', 'lab did not answer in time.');
        const result = await apply(ref, change);
        done.push(change.kind);
        return result;
      };
      const { status, json } = await send(ALL);
      expect([status, done.length]).toEqual([504, failing]);
      const { applied = [], indexes = [] } = (json['details'] ?? {}) as { applied?: string[]; indexes?: number[] };
      expect([applied.length, indexes]).toEqual([failing, [3, 2, 4, 5, 1, 6].slice(0, failing)]);
      if (failing > 0)
        expect(json.error).toMatch(
          /^lab did not answer in time\. Carried out before it: .*\. Nothing after it was begun\.$/,
        );

      const found = await hardware();
      const isDone = (kind: string): boolean => done.includes(kind);
      expect([(found['nics'] as object[]).length === 1, found['autostart'], found['cpu'] === 3]).toEqual([
        isDone('add-nic'),
        isDone('set-autostart'),
        isDone('scale'),
      ]);
      expect((found['disks'] as object[]).length).toBe(isDone('attach-volume') ? 2 : 1);

      // The reservation has ended, and the journal has the failure and the changes before it.
      ability.apply = apply;
      const { json: journal } = await edge.send('GET', '/api/ext/journal');
      const entries = (journal as unknown as { action: string; route: string; outcome: string }[]).filter(
        ({ route }) => route === 'POST /api/ext/vms/:ns/:name/hardware',
      );
      expect(entries).toHaveLength(failing + 1);
      expect((await send([{ kind: 'add-nic', iface: 'later', nad: 'lan-1' }])).status).toBe(200);
    });
  });

  test.each([
    [
      'two changes of one disk',
      [
        { kind: 'expand-volume', pvc: 'root', size: '50Gi' },
        { kind: 'detach-volume', pvc: 'root' },
      ],
      /^changes\[1\] and changes\[0\] are both about the volume root\.$/,
    ],
    [
      'two changes of one disk by different names',
      [
        { kind: 'expand-volume', pvc: 'root', size: '50Gi' },
        { kind: 'detach-volume', pvc: 'vda' },
      ],
      /both about the volume root\.$/,
    ],
    [
      'two sizes',
      [
        { kind: 'scale', cpu: 3 },
        { kind: 'scale', mem: '1Gi' },
      ],
      /both about the size\.$/,
    ],
    [
      'one NIC twice',
      [
        { kind: 'add-nic', iface: 'lan', nad: 'lan-1' },
        { kind: 'remove-nic', iface: 'lan' },
      ],
      /both about the NIC lan\.$/,
    ],
    [
      'one address twice',
      [
        { kind: 'add-nic', iface: 'a', nad: 'lan-1', mac: '52:54:00:aa:bb:01' },
        { kind: 'add-nic', iface: 'b', nad: 'lan-1', mac: '52:54:00:AA:BB:01' },
      ],
      /both about the address 52:54:00:aa:bb:01\.$/,
    ],
    [
      'a disk that is removed and first in the boot order',
      [
        { kind: 'detach-volume', pvc: 'root' },
        { kind: 'set-boot-order', devices: ['vda'] },
      ],
      /^changes\[1\] boots from vda, which changes\[0\] removes\.$/,
    ],
    [
      'pages of a memory that changes',
      [
        { kind: 'scale', mem: '3Gi' },
        { kind: 'set-placement', placement: { hugepages: '1Gi' } },
      ],
      /^changes\[1\] divides the memory/,
    ],
  ])('refuses %s', async (_what, changes, reason) => {
    const before = await hardware();
    const { status, json } = await send(changes);
    expect([status, json.code, json.error]).toEqual([400, 'INVALID_INPUT', expect.stringMatching(reason)]);
    const { refusals, changes: planned } = await planOf(changes);
    expect(refusals[0]).toMatchObject({ code: 'INVALID_INPUT', reason: expect.stringMatching(reason) });
    expect([refusals[0]?.remedy === '', planned]).toEqual([false, []]);
    expect(await hardware()).toEqual(before);
  });

  test.each([
    ['no changes', [], /^changes must contain at least 1 elements\.$/],
    ['25 changes', nics(25), /^changes must contain no more than 24 elements\.$/],
    ['1,000 changes', nics(1000), /^The body must not be larger than/],
    ['an unknown kind', [{ kind: 'explode' }], /changes\[0\]\.kind must be one of/],
    ['a change that is no object', ['scale'], /changes/],
    [
      'a field of another kind',
      [{ kind: 'remove-nic', iface: 'a', size: '1Gi' }],
      /^changes\[0\]\.size is not a field of remove-nic, which takes iface\.$/,
    ],
    ['a missing field', [{ kind: 'set-autostart' }], /^changes\[0\]\.on is missing: set-autostart needs it\.$/],
    ['no new size', [{ kind: 'set-autostart', on: true }, { kind: 'scale' }], /^changes\[1\]: Set cpu, mem or both/],
    [
      'a new disk and a volume at once',
      [{ kind: 'attach-volume', size: '1Gi', pvc: 'a' }],
      /^changes\[0\]: Set either size/,
    ],
    ['an empty volume', [{ kind: 'detach-volume', pvc: null }], /^changes\[0\]\.pvc must be the name of a volume/],
    ['an odd name of a NIC', [{ kind: 'add-nic', iface: 'Lan', nad: 'lan-1' }], /^changes\[0\]: iface must be/],
    ['an unknown field', [{ kind: 'scale', cpu: 3, toString: 1 }], /toString is not a known field/],
  ])('refuses %s', async (_what, changes, message) => {
    const { status, json } = await send(changes);
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  });

  test('has one reservation for all changes, for which others wait', async () => {
    const held = holdMethod(edge.lab.require('hardware'), 'apply');
    const changed = send([{ kind: 'scale', cpu: 3 }]);
    await held.begun;
    const { json } = await edge.send('POST', '/api/vms/default/web/start?dryRun=true');
    expect(JSON.stringify(json)).toContain('a change of its hardware');
    const started = edge.send('POST', '/api/vms/default/web/start');
    held.end();
    expect([(await changed).status, (await started).status]).toEqual([200, 200]);
  });

  test('is carried out once under an idempotency key', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const changes = [{ kind: 'attach-volume', size: '1Gi' }];
    const first = await send(changes, WEB, '', headers);
    const again = await send(changes, WEB, '', headers);
    expect([again.json, again.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
    expect((await hardware())['disks']).toHaveLength(2);
  });

  test('changes nothing when the VM was replaced by another one of its name meanwhile', async () => {
    const held = holdMethod(edge.lab.require('provisioning'), 'delete');
    const deleted = edge.send('DELETE', '/api/vms/default/web');
    await held.begun;
    const changed = send([{ kind: 'scale', cpu: 3 }]);
    held.end();
    await deleted;
    expect((await changed).json.code).toMatch(/^(?:INSTANCE_NOT_FOUND|BUSY)$/);
  });
});
