import 'reflect-metadata';
import { unreachable, Edge } from '../testing/edge.js';

const PLACEMENT = '/api/ext/vms/default/web/placement';
const DEVICES = '/api/ext/vms/default/web/devices';
const CARD = 'pci_0000_01_00_0';

describe('the placement of a VM', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const hardware = async () => (await edge.send('GET', '/api/ext/vms/default/web/hardware')).json;
  const [ann, eve] = ['ann', 'eve'].map((login) => ({ 'tailscale-user-login': login }));

  test('is set, read and removed', async () => {
    const pinning = {
      vcpus: [{ vcpu: 0, cpus: '2-3' }],
      emulatorCpus: '0',
      memory: { mode: 'preferred', nodes: '1' },
    };
    const set = await edge.send('POST', PLACEMENT, { pinning, hugepages: '2M' });
    expect([set.status, set.json]).toEqual([200, { status: 'ok', effect: 'next-start', pending: [] }]);
    expect((await hardware())['placement']).toEqual({
      dedicated: null,
      pinning: { ...pinning, cells: [] },
      hugepages: '2Mi',
    });
    const none = { vcpus: [], emulatorCpus: null, memory: null };
    await edge.send('POST', PLACEMENT, { pinning: none, hugepages: null });
    expect((await hardware())['placement']).toEqual({
      dedicated: null,
      pinning: { ...none, cells: [] },
      hugepages: null,
    });
  });

  test('waits for the next start of a running VM, or restarts it on request', async () => {
    await edge.send('POST', '/api/vms/default/web/start');
    const plan = await edge.send('POST', `${PLACEMENT}?restart=true&dryRun=true`, { hugepages: '2Mi' });
    expect(plan.json).toMatchObject({ refusals: [], steps: [{ name: 'set-placement' }] });
    const set = await edge.send('POST', PLACEMENT, { hugepages: '2Mi' });
    expect(set.json).toMatchObject({
      effect: 'next-start',
      pending: [{ field: 'hugepages', running: 'default', configured: '2Mi' }],
    });
    const pinned = await edge.send('POST', PLACEMENT, { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } });
    expect(pinned.json).toMatchObject({ effect: 'now' });
  });

  test.each([
    {},
    { pinning: {} },
    { dedicated: {} },
    { pinning: { vcpus: [{ vcpu: 0, cpus: '0-99999999999' }] } },
    { pinning: { vcpus: [{ vcpu: 0, cpus: '1-0' }] } },
    { pinning: { vcpus: [{ vcpu: 0, cpus: '^0' }] } },
    { pinning: { vcpus: [{ vcpu: 0, cpus: '\u0661' }] } },
    { pinning: { vcpus: [{ vcpu: 0, cpus: '6' }] } },
    { pinning: { vcpus: [{ vcpu: '0', cpus: '0' }] } },
    { pinning: { vcpus: [{ vcpu: -1, cpus: '0' }] } },
    { pinning: { vcpus: [{ cpus: '0' }] } },
    { pinning: { vcpus: null } },
    { pinning: { emulatorCpus: '' } },
    { pinning: { memory: { mode: 'best', nodes: '0' } } },
    { pinning: { memory: { mode: 'strict', nodes: '7' } } },
    { pinning: { cells: [{ cpus: '0', mem: '1e9Zi' }] } },
    { pinning: { cells: [{ cpus: '0-1', mem: '1Gi' }, { cpus: '1', mem: '1Gi' }] } }, // prettier-ignore
    { pinning: { iothreads: '0' } },
    { hugepages: '' },
    { hugepages: '3Mi' },
    { hugepages: true },
    { dedicated: { on: 'yes' } },
    { dedicated: null },
    { cpus: '0' },
  ])('is refused when it is impossible: %j', async (body) => {
    const before = await hardware();
    const { status } = await edge.send('POST', PLACEMENT, body);
    expect(status).toBe(400);
    expect(await hardware()).toEqual(before);
  });

  test('has at most as many pins as a VM has CPUs', async () => {
    const vcpus = Array.from({ length: 513 }, () => ({ vcpu: 0, cpus: '0' }));
    expect((await edge.send('POST', PLACEMENT, { pinning: { vcpus } })).status).toBe(400);
  });

  test('that the backend does not have is 501 with a remedy', async () => {
    const answer = await edge.send('POST', `${PLACEMENT}?dryRun=true`, { dedicated: { on: true } });
    expect(answer.json).toMatchObject({ steps: [], refusals: [{ code: 'NOT_SUPPORTED' }] });
    expect((await edge.send('POST', PLACEMENT, { dedicated: { on: true } })).status).toBe(501);
  });

  test('has devices of the host, which belong to one VM at a time', async () => {
    expect((await edge.send('POST', DEVICES, { device: CARD })).json).toMatchObject({
      status: 'ok',
      effect: 'next-start',
    });
    expect((await hardware())['hostDevices']).toEqual([{ name: CARD, device: CARD, kind: 'pci' }]);
    expect((await edge.send('POST', DEVICES, { device: CARD })).status).toBe(409);
    const other = await edge.send('POST', '/api/ext/vms/default/db/devices', { device: CARD });
    expect([other.status, other.json['code']]).toEqual([409, 'BUSY']);
    expect((await edge.send('DELETE', `/api/ext/vms/default/db/devices/${CARD}`)).status).toBe(404);
    const detached = await edge.send('DELETE', `${DEVICES}/${CARD}`);
    expect([detached.status, detached.json['status']]).toEqual([200, 'removed']);
    expect((await edge.send('DELETE', `${DEVICES}/${CARD}`)).status).toBe(404);
  });

  test('never has a device that the host needs, or one with an odd name', async () => {
    const needed = await edge.send('POST', DEVICES, { device: 'pci_0000_03_00_0' });
    expect([needed.status, needed.json['error']]).toEqual([409, expect.stringContaining('network interface eth0')]);
    for (const device of ['', '../../dev/sda', 'a/b/c', '-rf', '/dev/sda', 'a\nb', 'x'.repeat(300), 7, null]) {
      expect((await edge.send('POST', DEVICES, { device })).status).toBe(400);
    }
    for (const name of ['..%2f..%2fetc', '%2e%2e', 'a%00b']) {
      expect([400, 404]).toContain((await edge.send('DELETE', `${DEVICES}/${name}`)).status);
    }
    expect((await hardware())['hostDevices']).toEqual([]);
  });

  test('is on hosts whose CPUs, pages and devices administrators list', async () => {
    const { status, json } = await edge.send('GET', '/api/ext/host-resources');
    expect(status).toBe(200);
    const { hosts, devices } = json as unknown as { hosts: object[]; devices: object[] };
    expect(hosts[0]).toMatchObject({ context: 'lab', node: 'memory-1', cpus: '0-5,7', offlineCpus: '6' });
    expect(hosts[0]).toMatchObject({ numaNodes: [{ id: 0 }, { id: 1 }], hugepages: [{ size: '2Mi', total: 8192 }] });
    expect(devices[0]).toMatchObject({ context: 'lab', name: CARD, gpu: true, usedBy: [], refusal: null });
    edge.lab.engine.disconnect(unreachable);
    expect((await edge.send('GET', '/api/ext/host-resources?context=lab')).status).toBe(503);
  });

  test('is changed by administrators only, and is in the audit log', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    for (const [method, path, body] of [
      ['GET', '/api/ext/host-resources', undefined],
      ['POST', DEVICES, { device: CARD }],
      ['DELETE', `${DEVICES}/${CARD}`, undefined],
      ['POST', PLACEMENT, { hugepages: null }],
    ] as const)
      expect([path, (await edge.send(method, path, body, eve)).status]).toEqual([path, 403]);
    await edge.send('POST', PLACEMENT, { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } }, ann);
    await edge.send('POST', DEVICES, { device: CARD }, ann);
    await edge.send('POST', DEVICES, { device: 'pci_0000_03_00_0' }, ann);
    const events = (await edge.send('GET', '/api/vms/default/web/events', undefined, ann)).json as unknown as {
      reason: string;
      type: string;
      caller: string;
    }[];
    expect(events.filter(({ reason }) => /host device|pin/.test(reason))).toEqual([
      expect.objectContaining({ reason: 'attach host device pci_0000_03_00_0', type: 'Warning', caller: 'ann' }),
      expect.objectContaining({ reason: `attach host device ${CARD}`, type: 'Normal', caller: 'ann' }),
      expect.objectContaining({ reason: 'pin CPU 0 to 1', type: 'Normal', caller: 'ann' }),
    ]);
  });
});
