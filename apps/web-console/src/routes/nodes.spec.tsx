import { createEvent, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildNode } from '../testing/build-node.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { wholeText } from '../testing/whole-text.js';

const GIB = 1024 ** 3;
const NODES = [
  buildNode(),
  buildNode({ name: 'node-2', promised: { cpu: 1_000, memoryBytes: 2 * GIB }, instances: 1 }),
  buildNode({ name: 'node-3', ready: false, schedulable: false, unschedulable: 'The node is not ready.' }),
  buildNode({ name: 'node-4', schedulable: false, unschedulable: 'The node is cordoned.', zone: 'b' }),
  buildNode({ name: 'node-5', promised: { cpu: 1_000, memoryBytes: 59 * GIB } }),
];
const VMS = [buildVm(), buildVm({ name: 'db-1', mem: '8Gi' }), buildStoppedVm({ name: 'off' })];
const MIGRATE = 'POST /api/vms/tailvm/db-1/migrate';

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/ext/nodes', NODES);
  service.on('GET /api/nodes', NODES);
});
afterEach(() => closeConsole(service));

const card = async (name: string): Promise<HTMLElement> =>
  (await screen.findByRole('button', { name: new RegExp(name) })).closest('li')!;
const block = (title: RegExp): HTMLElement => screen.getByTitle(title);

/** An event of dragging, which jsdom has no data for. */
function drag(type: 'dragStart' | 'dragOver' | 'drop' | 'dragEnd', element: HTMLElement): boolean {
  const event = createEvent[type](element);
  Object.defineProperty(event, 'dataTransfer', { value: { setData: () => undefined } });
  return fireEvent(element, event);
}

describe('the map', () => {
  test('shows each node with its state, free memory and its running instances as blocks by their memory', async () => {
    await openConsole('/nodes', VMS, service);
    expect((await card('node-1')).textContent).toContain('Readynode-12 instances25%52 GiB free');
    expect((await card('node-3')).textContent).toContain('Not ready');
    expect((await card('node-4')).textContent).toContain('Takes no new VMs');
    const blocks = [...(await card('node-1')).querySelectorAll<HTMLElement>('.hg-node-block')];
    expect(blocks.map(({ title }) => title)).toEqual(['db-1: Running, 8 GiB', 'web-1: Running, 4 GiB']);
    expect(parseFloat(blocks[0]!.style.getPropertyValue('--hg-share'))).toBeCloseTo((8 / 60) * 200);
    expect(screen.getByText('5 in 1 context, 1 not ready, 1 takes no new VMs')).toBeTruthy();
  });

  test('groups by zone, which the address keeps', async () => {
    const { user } = await openConsole('/nodes', VMS, service);
    await user.click(await screen.findByRole('button', { name: 'Zones' }));
    expect(location.hash).toBe('#/nodes?group=zone');
    expect(within(screen.getByRole('region', { name: 'Nodes of prod, zone b' })).getAllByRole('listitem')).toHaveLength(
      1,
    );
  });

  test('offers a migration of the block that is dragged to another node, with the promise of its dry run', async () => {
    service.on(MIGRATE, {
      steps: [{ name: 'migrate', detail: 'Migrate db-1 to node-2.' }],
      warnings: [],
      refusals: [],
      seconds: { low: 8, high: 12, measured: 12 },
    });
    await openConsole('/nodes', VMS, service);
    await card('node-1');
    drag('dragStart', block(/^db-1/));
    expect(drag('dragOver', await card('node-1'))).toBe(true);
    // A target accepts the drop by preventing the default.
    expect(drag('dragOver', await card('node-2'))).toBe(false);
    const promise = await screen.findByText(/^Takes 8 to 12 s, measured 12 times\./);
    expect(promise.textContent).toContain('The guest keeps running.');
    drag('drop', await card('node-2'));
    const panel = within(await screen.findByRole(...PANEL));
    await waitFor(() =>
      expect(panel.getByRole<HTMLSelectElement>('combobox', { name: 'Target node' }).value).toBe('node-2'),
    );
    expect(await panel.findByText('Nothing has happened yet.')).toBeTruthy();
    const sent = service.asked(MIGRATE) as MockRequest[];
    expect(
      sent.every(({ query, body }) => query.get('dryRun') === 'true' && JSON.stringify(body).includes('node-2')),
    ).toBe(true);
  });

  test.each([
    ['node-3', 'not ready'],
    ['node-4', 'takes no new VMs'],
    ['node-5', 'only 1 GiB free'],
  ])('refuses %s as a target: %s', async (name, reason) => {
    await openConsole('/nodes', VMS, service);
    await card('node-1');
    drag('dragStart', block(/^db-1/));
    expect(drag('dragOver', await card(name))).toBe(true);
    expect((await card(name)).textContent).toContain(reason);
    drag('drop', await card(name));
    expect(screen.queryByRole(...PANEL)).toBeNull();
    drag('dragEnd', block(/^db-1/));
    expect((await card('node-3')).textContent).toContain('52 GiB free');
    expect(service.asked(MIGRATE)).toEqual([]);
  });

  test('lets a reader drag nothing', async () => {
    service.on('GET /api/whoami', { login: 'eve', name: '', admin: false, enforced: true });
    await openConsole('/nodes', VMS, service);
    await card('node-1');
    await waitFor(() => expect(block(/^db-1/).draggable).toBe(false));
  });

  test('asks again when an instance starts, and not when its address changes', async () => {
    const { receive } = await openConsole('/nodes', VMS, service);
    await card('node-1');
    await receive(() => service.stream.emit('changed', buildVm({ ip: '10.0.0.9' })));
    await receive(() => service.stream.emit('changed', buildVm({ name: 'off', node: 'node-2' })));
    await waitFor(() => expect(service.asked('GET /api/ext/nodes')).toHaveLength(2));
  });
});

describe('the table', () => {
  test('shows the load, the promises and the free memory', async () => {
    await openConsole('/nodes?view=table', VMS, service);
    expect((await screen.findByRole('row', { name: /node-1/ })).textContent).toBe(
      'node-1Ready25% of 16 CPUs50% of 64 GiB248 GiB52 GiB–workerprod',
    );
    expect(screen.getByRole('row', { name: /node-4/ }).textContent).toContain('Takes no new VMs');
  });

  test('shows the amounts that are known of a node without a load', async () => {
    const unknown = { cpu: null, memoryBytes: null };
    service.on('GET /api/ext/nodes', [
      buildNode({ load: unknown }),
      buildNode({ name: 'node-2', capacity: unknown, allocatable: unknown, load: { cpu: 250, memoryBytes: null } }),
    ]);
    await openConsole('/nodes?view=table', [], service);
    expect((await screen.findByRole('row', { name: /node-1/ })).textContent).toContain('Readyof 16 CPUsof 64 GiB');
    expect(screen.getByRole('row', { name: /node-2/ }).textContent).toContain('Ready0.3 CPUs–248 GiB–');
  });

  test('peeks at a row, walks with J and K, and hides the details with Escape', async () => {
    const { user } = await openConsole('/nodes?view=table', VMS, service);
    await user.click(await screen.findByRole('row', { name: /node-1/ }));
    expect(await screen.findByRole('complementary', { name: 'Details of node-1' })).toBeTruthy();
    expect(location.hash).toContain('peek=prod%2Fnode-1');
    await user.keyboard('j');
    const details = within(await screen.findByRole('complementary', { name: 'Details of node-2' }));
    expect(details.getByText('2 of 5')).toBeTruthy();
    await user.keyboard('k');
    await screen.findByRole('complementary', { name: 'Details of node-1' });
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('complementary', { name: /Details/ })).toBeNull();
  });
});

describe('the details of a node', () => {
  const details = () => within(screen.getByRole('complementary', { name: 'Details of node-1' }));

  test('list its instances, whose plan of a migration they open', async () => {
    service.on(MIGRATE, { steps: [], warnings: [], refusals: [] });
    const { user } = await openConsole('/nodes?peek=prod/node-1', VMS, service);
    await screen.findByRole('complementary', { name: 'Details of node-1' });
    expect(details().getByText('4 CPUs (0.3 for each real one), 8 GiB of memory')).toBeTruthy();
    expect(details().getByRole('link', { name: 'Show in the list' }).getAttribute('href')).toBe(
      '#/vms?context=prod&node=node-1',
    );
    await user.click(details().getByRole('button', { name: 'Migrate to… db-1' }));
    const panel = within(await screen.findByRole(...PANEL));
    expect(panel.getByRole<HTMLSelectElement>('combobox', { name: 'Target node' }).value).toBe('');
  });

  test('report the failure of the node on request, with the reasons and the conditions that were not checked', async () => {
    const name = (of: string) => ({ ref: `vm/prod/tailvm/${of}`, kind: 'vm', namespace: 'tailvm', name: of });
    service.on('GET /api/ext/nodes/node-1/failure', {
      node: 'node-1',
      context: 'prod',
      hidden: 1,
      instances: [
        { ...name('db-1'), outcome: 'stays-down', nodes: [], reason: 'Its disk data is on the node.', unchecked: [] },
        { ...name('web-1'), outcome: 'restarts', nodes: ['node-2', 'node-5'], unchecked: ['free hugepages'] },
      ],
      unchecked: ['Whether the node is fenced was not checked.'],
    });
    const { user } = await openConsole('/nodes?peek=prod/node-1', VMS, service);
    await screen.findByRole('complementary', { name: 'Details of node-1' });
    expect(service.asked('GET /api/ext/nodes/node-1/failure')).toEqual([]);
    await user.click(details().getByRole('button', { name: 'Show what would happen' }));
    const report = within(await details().findByRole('region', { name: 'If this node fails' }));
    expect(await report.findByText('1 restarts elsewhere, 1 stays down.')).toBeTruthy();
    expect(report.getByText('Its disk data is on the node.')).toBeTruthy();
    await user.click(report.getByRole('button', { name: 'Restart elsewhere (1)' }));
    expect(report.getByText('fits on 2 nodes')).toBeTruthy();
    expect(report.getByText('1 more that you may not see')).toBeTruthy();
    expect(report.getByText(wholeText('Of some instances: free hugepages.'))).toBeTruthy();
  });
});
