import 'reflect-metadata';
import { unreachable, Edge } from '../testing/edge.js';

const WEB = '/api/vms/default/web';
const EXTRA = '/api/ext/vms/default/web';

describe('the hardware of a VM', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const hardware = async () => (await edge.send('GET', `${EXTRA}/hardware`)).json;
  const addDisk = async (): Promise<string> =>
    String((await edge.send('POST', `${WEB}/volumes`, { size: '1Gi' })).json['pvc']);

  /** The task once it has ended. */
  const ended = async (id: unknown): Promise<Record<string, unknown>> => {
    for (;;) {
      const { json } = await edge.send('GET', `/api/tasks/${String(id)}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('is scaled', async () => {
    const answer = await edge.send('POST', `${WEB}/scale`, { cpu: 3, mem: '5G' });
    expect([answer.status, answer.json]).toEqual([200, { status: 'ok', effect: 'next-start', pending: [] }]);
    expect(await hardware()).toMatchObject({ cpu: 3, mem: '5Gi' });
    const list = (await edge.send('GET', '/api/vms?q=web')).json as unknown as { name: string; cpu: number }[];
    expect(list.find(({ name }) => name === 'web')).toMatchObject({ cpu: 3, mem: '5Gi' });
  });

  test('waits for the next start on request, with the exact difference', async () => {
    await edge.send('POST', `${WEB}/start`);
    const before = await hardware();
    const answer = await edge.send('POST', `${WEB}/scale?restart=false`, { mem: '1Gi' });
    expect(answer.json).toEqual({
      status: 'ok',
      effect: 'next-start',
      pending: [{ field: 'memory', running: before['mem'], configured: '1Gi' }],
    });
  });

  test('lists the settings that the running guest does not have yet, until it has them', async () => {
    const engine = edge.lab.require('hardware');
    const read = engine.read.bind(engine);
    const applying = [{ field: 'cpu', running: '2', configured: '3' }];
    engine.read = async (ref) => ({ ...(await read(ref)), applying });
    expect((await edge.send('POST', `${WEB}/scale`, { cpu: 3 })).json).toMatchObject({ pending: [], applying });
    expect(await hardware()).toMatchObject({ applying });
    engine.read = read;
    expect(await hardware()).not.toHaveProperty('applying');
  });

  test.each([
    {},
    { cpu: 0 },
    { cpu: 1.5 },
    { cpu: '2' },
    { cpu: null },
    { mem: '0' },
    { mem: '-4Gi' },
    { mem: '1e9Zi' },
    { mem: 'NaN' },
    { mem: '9'.repeat(60) },
    { cpu: 2, memory: '4Gi' },
  ])('refuses the scale %j', async (body) => {
    const before = await hardware();
    const answer = await edge.send('POST', `${WEB}/scale`, body);
    expect(answer.status).toBe(400);
    expect(await hardware()).toEqual(before);
  });

  test('gets a disk, which is expanded, detached, attached again and deleted', async () => {
    const pvc = await addDisk();
    const expanded = await edge.send('POST', `${WEB}/expand`, { pvc, size: '2Gi' });
    expect([expanded.status, expanded.json['status']]).toEqual([200, 'ok']);
    expect(await hardware()).toMatchObject({ disks: [{ isRoot: true }, { pvc, size: '2Gi', isRoot: false }] });
    const shrunk = await edge.send('POST', `${WEB}/expand`, { pvc, size: '1Gi' });
    expect([shrunk.status, shrunk.json['code']]).toEqual([400, 'INVALID_QUANTITY']);

    const detached = await edge.send('DELETE', `${WEB}/volumes/${pvc}`);
    expect([detached.status, detached.json['status']]).toEqual([200, 'removed']);
    expect((await edge.send('DELETE', `${WEB}/volumes/${pvc}`)).status).toBe(404);
    const attached = await edge.send('POST', `${WEB}/volumes`, { pvc });
    expect([attached.status, attached.json['pvc']]).toEqual([200, pvc]);
    await edge.send('DELETE', `${WEB}/volumes/${pvc}?delete=true`);
    const gone = await edge.send('POST', `${WEB}/volumes`, { pvc });
    expect([gone.status, gone.json['code']]).toEqual([400, 'VOLUME_NOT_FOUND']);
  });

  test.each([
    {},
    { size: '1Gi', pvc: 'data' },
    { size: '0' },
    { size: '1e9Zi' },
    { pvc: '../secret' },
    { pvc: 'a/../b' },
  ])('refuses the disk %j', async (body) => {
    expect((await edge.send('POST', `${WEB}/volumes`, body)).status).toBe(400);
  });

  test('refuses to touch the disk that the VM boots from, one of another VM, and names with path characters', async () => {
    const pvc = await addDisk();
    expect((await edge.send('DELETE', `${WEB}/volumes/root`)).status).toBe(409);
    expect((await edge.send('POST', '/api/vms/default/db/volumes', { pvc })).json['code']).toBe('BUSY');
    expect((await edge.send('DELETE', `/api/vms/default/db/volumes/${pvc}?delete=true`)).status).toBe(404);
    for (const name of ['..%2f..%2fetc%2fpasswd', '%2fetc%2fpasswd', '-rf', 'a%00b', '%2e%2e']) {
      const { status } = await edge.send('DELETE', `${WEB}/volumes/${name}?delete=true`);
      expect([400, 404]).toContain(status);
    }
    expect(await hardware()).toMatchObject({ disks: [{ isRoot: true }, { pvc }] });
  });

  test('has a disk that is moved to another storage while it runs', async () => {
    await edge.send('POST', `${WEB}/start`);
    const path = `${EXTRA}/volumes/root/move`;
    const plan = await edge.send('POST', `${path}?dryRun=true`, { storage: 'storage-2' });
    expect([plan.status, plan.json]).toMatchObject([200, { refusals: [] }]);
    const moved = await edge.send('POST', path, { storage: 'storage-2' });
    expect([moved.status, moved.json]).toEqual([202, { task: expect.stringMatching(/^disk-web-/), status: 'ok' }]);
    expect(await ended(moved.json['task'])).toMatchObject({ status: 'done' });
    expect(await hardware()).toMatchObject({ disks: [{ pvc: 'storage-2/root' }] });
    for (const [storage, status] of [
      ['storage-2', 404],
      ['no-such-storage', 404],
      ['../etc', 400],
      ['', 400],
    ] as const)
      expect((await edge.send('POST', path, { storage })).status).toBe(status);
  });

  describe('with a move of a disk that a restart of the service interrupts', () => {
    const path = `${EXTRA}/volumes/root/move`;

    /**
     * Begins a move that copies until the service stops. `isDone`: the backend completes it meanwhile. `isLost`: the
     * context is lost then.
     */
    const interrupt = async ({ isDone = false, isLost = false } = {}): Promise<unknown> => {
      await edge.send('POST', `${WEB}/start`);
      const disks = edge.lab.require('diskMove');
      const move = disks.move.bind(disks);
      const begun = Promise.withResolvers<void>();
      disks.move = async (ref, request) => {
        const work = await move(ref, request);
        return async (report) => {
          if (isDone) await work(report);
          begun.resolve();
          await new Promise((_resolve, reject) => report.signal.addEventListener('abort', reject));
        };
      };
      const { json } = await edge.send('POST', path, { storage: 'storage-2' });
      await begun.promise;
      if (isLost) edge.lab.engine.disconnect(unreachable);
      await edge.reopen();
      return json['task'];
    };

    test('is completed by the next start', async () => {
      const task = await interrupt({ isDone: true });
      expect(await ended(task)).toMatchObject({ status: 'done', error: '' });
      expect(await hardware()).toMatchObject({ disks: [{ pvc: 'storage-2/root' }] });
    });

    test('reports that the disk is where it was', async () => {
      const task = await interrupt();
      expect(await ended(task)).toMatchObject({
        status: 'error',
        error: expect.stringContaining('it is where it was'),
      });
      expect(await hardware()).toMatchObject({ disks: [{ pvc: 'root' }] });
    });

    test('waits for a context that is lost', async () => {
      const task = await interrupt({ isLost: true });
      const { status, log } = await edge.logged(task, 'Trying again.');
      expect([status, log]).toEqual(['running', expect.not.stringContaining('Rolling back')]);
    });
  });

  test('gets a NIC, which is changed and removed', async () => {
    const body = { nad: 'lan-1', iface: 'eth1', mac: '52:54:00:AA:BB:CC' };
    const added = await edge.send('POST', `${WEB}/nics`, body);
    expect([added.status, added.json['status']]).toEqual([200, 'ok']);
    expect((await edge.send('POST', `${WEB}/nics`, body)).status).toBe(409);
    expect((await edge.send('POST', `${EXTRA}/nics/eth1`, { nad: 'lan-2', link: 'down' })).status).toBe(200);
    expect(await hardware()).toMatchObject({
      nics: [{ iface: 'eth1', nad: 'lan-2', link: 'down', mac: '52:54:00:aa:bb:cc' }],
    });
    expect((await edge.send('POST', `${EXTRA}/nics/eth1`, {})).status).toBe(400);
    expect((await edge.send('DELETE', `${EXTRA}/nics/eth1`)).json['status']).toBe('removed');
    expect((await edge.send('DELETE', `${EXTRA}/nics/eth1`)).status).toBe(404);
  });

  test.each([
    { nad: 'none', iface: 'eth1' },
    { nad: '../x', iface: 'eth1' },
    { nad: 'lan-1', iface: 'Eth 1' },
    { nad: 'lan-1', iface: 'eth1', mac: '01:00:5e:00:00:01' },
    { nad: 'lan-1', iface: 'eth1', mac: '52:54:00:00:01' },
    { nad: 'lan-1' },
    { iface: 'eth1' },
  ])('refuses the NIC %j', async (body) => {
    expect((await edge.send('POST', `${WEB}/nics`, body)).status).toBe(400);
  });

  test('has a boot order, autostart, and no drive', async () => {
    expect((await edge.send('POST', `${EXTRA}/boot-order`, { devices: ['vda'] })).status).toBe(200);
    expect((await edge.send('POST', `${EXTRA}/boot-order`, { devices: ['nope'] })).status).toBe(404);
    expect((await edge.send('POST', `${EXTRA}/autostart`, { on: true })).status).toBe(200);
    expect((await edge.send('POST', `${EXTRA}/drives/sda`, { pvc: null })).status).toBe(404);
    expect((await edge.send('POST', `${EXTRA}/drives/sda`, {})).status).toBe(400);
    expect(await hardware()).toMatchObject({ bootOrder: ['vda'], autostart: true });
  });

  test.each([
    ['POST', `${WEB}/scale`, { cpu: 3 }],
    ['POST', `${WEB}/volumes`, { size: '1Gi' }],
    ['POST', `${WEB}/expand`, { pvc: 'root', size: '1Ti' }],
    ['POST', `${WEB}/nics`, { nad: 'lan-1', iface: 'eth1' }],
    ['POST', `${EXTRA}/autostart`, { on: true }],
  ])('is only planned by a dry run: %s %s', async (method, path, body) => {
    const before = await hardware();
    const answer = await edge.send(method, `${path}?dryRun=true`, body);
    expect([answer.status, answer.json]).toMatchObject([200, { refusals: [], steps: [expect.anything()] }]);
    expect(await hardware()).toEqual(before);
  });

  test('shows in a dry run why the change would be refused', async () => {
    const answer = await edge.send('POST', `${WEB}/expand?dryRun=true`, { pvc: 'root', size: '1Mi' });
    expect(answer.json).toMatchObject({ steps: [], refusals: [{ code: 'INVALID_QUANTITY' }] });
  });

  test('changes are in the audit log with their caller', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const [ann, eve] = ['ann', 'eve'].map((login) => ({ 'tailscale-user-login': login }));
    await edge.send('POST', `${WEB}/scale`, { cpu: 3 }, ann);
    await edge.send('POST', `${WEB}/expand`, { pvc: 'root', size: '1Mi' }, ann);
    expect((await edge.send('POST', `${WEB}/scale`, { cpu: 4 }, eve)).status).toBe(403);
    const events = (await edge.send('GET', `${WEB}/events`, undefined, ann)).json as unknown as { reason: string }[];
    expect(events.filter((event) => /scale|expand/.test(event.reason))).toEqual([
      expect.objectContaining({ reason: 'expand volume root to 1Mi', type: 'Warning', caller: 'ann' }),
      expect.objectContaining({ reason: 'scale to 3 CPUs', type: 'Normal', caller: 'ann' }),
    ]);
  });

  test('needs a VM that exists, and a context that answers', async () => {
    expect((await edge.send('POST', '/api/vms/default/none/scale', { cpu: 2 })).status).toBe(404);
    expect((await edge.send('POST', '/api/vms/default/twin/scale', { cpu: 2 })).status).toBe(409);
    edge.lab.engine.disconnect(unreachable);
    expect((await edge.send('POST', `${WEB}/scale`, { cpu: 2 })).status).toBe(503);
    expect((await edge.send('GET', `${EXTRA}/hardware`)).status).toBe(503);
  });
});
