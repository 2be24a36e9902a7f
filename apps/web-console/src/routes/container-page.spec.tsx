import type { ContainerView } from '@headgate/api-contracts';
import { act, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildTask } from '../testing/build-task.js';
import { MockText, type MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const PATH = '/containers/prod/tailvm/box';
const API = '/api/ext/cts/tailvm/box';
const LOGS = `GET ${API}/logs`;
const PLAN = { steps: [{ name: 'one', detail: 'step' }], warnings: [], refusals: [] };
const MOVE_PLAN = {
  ok: true,
  source: 'ct/prod/tailvm/box',
  destination: 'ct/rack/default/box',
  mode: 'cold',
  steps: [{ name: 'copy', detail: 'Copy the files.' }],
  warnings: [],
  dropped: [],
  refusals: [],
  estimatedBytes: 1024 ** 2,
  estimatedDowntimeSeconds: null,
  minDowntimeSeconds: null,
  maxDowntimeSeconds: null,
  format: 'raw',
  deleteSource: false,
};
const USAGE = { cpu: 250, memory: { usedBytes: 2 ** 27, totalBytes: 2 ** 29 }, disk: null, network: null };

const box: ContainerView = {
  name: 'box',
  namespace: 'tailvm',
  node: 'node-1',
  phase: 'Running',
  ready: true,
  image: 'debian:12',
  cpu: 1,
  mem: '512Mi',
  privileged: false,
  ref: 'ct/prod/tailvm/box',
  context: 'prod',
  backend: 'kubevirt',
  tags: ['web'],
};
const ALL = buildContext({ containerAbilities: { containerLogs: true, snapshots: true, cloning: true, events: true } });

let service: MockService;
/** The service with the details that the page of the container begins with. */
const givenContainer = (): MockService =>
  givenService()
    .on(`GET ${API}/events`, [])
    .on(`GET ${API}/metrics/history`, { range: '1h', from: 0, to: 1, stepMs: 15_000, points: [] })
    .on(`GET ${API}/metrics`, { cpu: null, memory: null, disk: null, network: null });
beforeEach(() => (service = givenContainer()));
afterEach(() => closeConsole(service));

const open = async (tab = '', container: ContainerView = box) => {
  const opened = await openConsole(`${PATH}${tab}`, [], service);
  const show = (shown: ContainerView) => opened.receive(() => service.listInStream('cts').emit('changed', shown));
  await opened.receive(() => service.listInStream('cts').snapshot([container]));
  return { ...opened, show };
};

const HARDWARE = {
  cpu: 1,
  maxCpu: 8,
  mem: '512Mi',
  maxMem: '16Gi',
  disks: [{ pvc: 'default/box-ct-data', device: 'data', type: 'disk', bus: '/data', size: '10Gi', isRoot: false }],
  nics: [],
  bootOrder: [],
  autostart: null,
  placement: { dedicated: null, pinning: null, hugepages: null },
  hostDevices: [],
  pending: [],
  changes: ['scale'],
};

describe('the hardware of a container', () => {
  const planOf = (effect: string, refusals: readonly object[] = []) => ({
    steps: refusals.length > 0 ? [] : [{ name: 'memory', detail: 'box gets 256Mi of memory.' }],
    warnings: [],
    refusals,
    effect,
    changes: [
      {
        index: 0,
        action: 'scale to 256Mi of memory',
        before: '512Mi',
        after: '256Mi',
        effect,
        steps: refusals.length > 0 ? [] : [{ name: 'memory', detail: 'box gets 256Mi of memory.' }],
        warnings: [],
        refusals,
      },
    ],
  });

  test('is the table of a VM with the rows that can be changed, and with its disks', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ containerAbilities: { hardware: true } })]));
    service.on(`GET ${API}/hardware`, HARDWARE);
    const { user } = await open();
    await user.click(await screen.findByRole('tab', { name: 'Hardware' }));
    expect(location.hash).toContain(`${PATH}/hardware`);
    const table = await screen.findByRole('table', { name: 'Hardware' });
    expect(within(table).getByText('default/box-ct-data, /data')).toBeTruthy();
    expect(within(table).getByText('up to 8 while it runs')).toBeTruthy();
    expect(
      within(table)
        .getAllByRole('textbox')
        .map((box) => box.getAttribute('aria-label')),
    ).toEqual(['CPUs', 'Memory']);
    for (const other of ['New disk', 'Boot order', 'Hugepages']) expect(within(table).queryByText(other)).toBeNull();
    expect(screen.queryByRole('button', { name: 'List host devices' })).toBeNull();
  });

  test('is changed with a plan, which says that it takes effect now', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ containerAbilities: { hardware: true } })]));
    service.on(`GET ${API}/hardware`, HARDWARE);
    service.on(`POST ${API}/hardware`, ({ query }: { query: URLSearchParams }) => ({
      body: query.has('dryRun') ? planOf('now') : { status: 'ok', effect: 'now', pending: [], changes: [] },
    }));
    const { user } = await open('/hardware');
    const box = await screen.findByRole('textbox', { name: 'Memory' });
    await user.clear(box);
    await user.type(box, '256Mi');
    expect(await screen.findByText('now')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Review 1 change…' }));
    const panel = await screen.findByRole(...PANEL);
    await user.click(await within(panel).findByRole('button', { name: 'Apply 1 change' }));
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
    const sent = service.asked(`POST ${API}/hardware`).filter(({ query }) => !query.has('dryRun'));
    expect(sent.map(({ body }) => body)).toEqual([{ changes: [{ kind: 'scale', mem: '256Mi' }] }]);
    expect(sent[0]?.query.get('context')).toBe('prod');
    expect(service.asked('POST /api/ext/vms/tailvm/box/hardware')).toEqual([]);
  });

  test('shows why a smaller size is refused, and offers the restart that allows it', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ containerAbilities: { hardware: true } })]));
    service.on(`GET ${API}/hardware`, HARDWARE);
    const refusal = { code: 'WRONG_STATE', reason: 'mem: box uses 300Mi now.', remedy: 'Restart it.' };
    service.on(`POST ${API}/hardware`, ({ query }: { query: URLSearchParams }) => ({
      body: query.has('restart') ? planOf('restart') : planOf('now', [refusal]),
    }));
    const { user } = await open('/hardware');
    const box = await screen.findByRole('textbox', { name: 'Memory' });
    await user.clear(box);
    await user.type(box, '256Mi');
    expect(await screen.findByText(/box uses 300/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Review 1 change…' }));
    const panel = await screen.findByRole(...PANEL);
    await user.click(await within(panel).findByRole('switch', { name: /^Restart box if a size/ }));
    expect(await within(panel).findByRole('button', { name: 'Apply 1 change and restart' })).toBeTruthy();
  });

  test('has no tab where the context can not change it, and the reason where a link leads there', async () => {
    const reason = 'prod does not offer changes of the hardware of containers.';
    service.on(
      'GET /api/capabilities',
      buildCapabilities([buildContext({ containerAbilities: { hardware: reason } })]),
    );
    await open('/hardware');
    expect(await screen.findByText(reason)).toBeTruthy();
    expect(service.asked(`GET ${API}/hardware`)).toEqual([]);
  });
});

describe('the page of a container', () => {
  test('has an overview with its facts, its tags and its place', async () => {
    const { user } = await open();
    const tabs = await screen.findByRole('tablist', { name: 'Details of box' });
    expect(within(tabs).getByRole('tab', { selected: true, name: 'Overview' })).toBeTruthy();
    expect(within(screen.getByRole('region', { name: 'Container' })).getByText('debian:12')).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Place' }).textContent).toContain('node-1');
    expect(await screen.findByText('No metrics yet')).toBeTruthy();
    expect(screen.getByText('The first values appear within a minute.')).toBeTruthy();
    service.on(`PATCH ${API}`, { changed: ['tags'], unchanged: [] });
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), 'blue{Enter}');
    await waitFor(() => expect(service.asked(`PATCH ${API}`)[0]?.body).toEqual({ tags: ['web', 'blue'] }));
  });

  test('shows the usage of the hour and of longer ranges', async () => {
    const point = { ...USAGE, max: USAGE };
    service.on(`GET ${API}/metrics/history`, ({ query }: { query: URLSearchParams }) => ({
      body: {
        range: query.get('range'),
        from: 0,
        to: 9e6,
        stepMs: 18e4,
        recordedSince: 1,
        points: [{ t: 8e6, ...point }],
      },
    }));
    const { user } = await open();
    expect(await screen.findByText('CPU, 25%')).toBeTruthy();
    await user.selectOptions(screen.getByRole('combobox', { name: 'Range' }), '7d');
    await waitFor(() =>
      expect(service.asked(`GET ${API}/metrics/history`).map(({ query }) => query.get('range'))).toContain('7d'),
    );
    expect(location.hash).toContain(`${PATH}?range=7d`);
  });

  test('has its events and its manifest, and those of no VM of its name', async () => {
    service.on(`GET ${API}/events`, [
      {
        time: '2026-01-01T00:00:00Z',
        type: 'Normal',
        reason: 'Started',
        object: 'Pod/box',
        message: 'Started it.',
        source: 'cluster',
      },
    ]);
    service.on(`GET ${API}`, { kind: 'Pod' });
    const { user } = await open('/events');
    expect(await screen.findByText('Started it.')).toBeTruthy();
    await user.click(screen.getByRole('tab', { name: 'Manifest' }));
    expect((await screen.findByRole('group', { name: 'Manifest' })).textContent).toContain('Pod');
    expect(service.requests.filter(({ path }) => path.startsWith('/api/vms/'))).toEqual([]);
  });

  test('reports failures with a retry in each tab', async () => {
    service.fails(`GET ${API}/events`, 503, 'prod does not answer.');
    service.fails(`GET ${API}`, 503, 'prod does not answer.');
    const { user } = await open('/events');
    expect(await screen.findByText("Couldn't load the events")).toBeTruthy();
    await user.click(screen.getByRole('tab', { name: 'Manifest' }));
    expect(await screen.findByText("Couldn't load the manifest")).toBeTruthy();
  });

  test('has snapshots only where its context offers them, and says why not to a link', async () => {
    await open();
    await screen.findByRole('tab', { name: 'Logs' });
    expect(screen.queryByRole('tab', { name: 'Snapshots' })).toBeNull();
    closeConsole(service);
    service = givenContainer();
    await open('/snapshots');
    expect(await screen.findByText('prod does not offer snapshots of containers.')).toBeTruthy();
    const clone = screen.getByRole('button', { name: 'Clone…' });
    expect(clone.getAttribute('aria-disabled') ?? String((clone as HTMLButtonElement).disabled)).toBe('true');
  });

  test('offers a clone and a snapshot in its menu, with the reason where the context has none', async () => {
    const { user } = await open();
    const more = () => screen.findByRole('button', { name: 'More actions' });
    await user.click(await more());
    for (const name of [/^Clone…?/, /^Snapshot/]) {
      const item = screen.getByRole('menuitem', { name });
      expect(item.getAttribute('aria-disabled')).toBe('true');
      expect(`${item.title} ${item.textContent}`).toMatch(/prod does not offer (clones|snapshots) of containers\./);
    }
    closeConsole(service);
    service = givenContainer();
    service.on('GET /api/capabilities', buildCapabilities([ALL]));
    service.on(`POST ${API}/snapshots`, { name: 'box-1' });
    const again = await open();
    await again.user.click(await more());
    await again.user.click(screen.getByRole('menuitem', { name: /^Snapshot/ }));
    expect(await screen.findByText('box has a new snapshot')).toBeTruthy();
    await again.user.click(await more());
    await again.user.click(screen.getByRole('menuitem', { name: /^Clone/ }));
    expect(screen.getByRole('dialog', { name: 'Clone box' }).textContent).toContain('a copy of the files');
  });

  test('is moved to another context with its plan, where its context can', async () => {
    const plan = { ...MOVE_PLAN, dropped: ['The permissions of /data itself.'] };
    service
      .on(
        'GET /api/capabilities',
        buildCapabilities([buildContext({ containerAbilities: { containerTransfer: true } })]),
      )
      .on('GET /api/move/destinations', { destinations: [{ backend: 'incus', context: 'rack', can: true }] })
      .on('POST /api/move/preflight', plan)
      .on('POST /api/move', { task: 'move-box-1', plan });
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Move…' }));
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByRole('option', { name: 'rack (incus)' });
    await user.selectOptions(within(dialog).getByRole('combobox', { name: /Destination/ }), 'rack');
    await within(dialog).findByText('The permissions of /data itself.');
    expect(service.asked('GET /api/move/destinations')[0]?.query.get('kind')).toBe('ct');
    // A container has no other modes.
    expect(within(dialog).queryByRole('combobox', { name: /Mode/ })).toBeNull();
    await waitFor(() =>
      expect((within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement).disabled).toBe(false),
    );
    await user.click(within(dialog).getByRole('button', { name: 'Move' }));
    await screen.findByText('box is being moved');
    expect(service.asked('POST /api/move')[0]?.body).toEqual({
      ref: box.ref,
      toBackend: 'incus',
      toContext: 'rack',
      name: 'box',
      deleteSource: false,
    });
  });

  test('has no move where its context has none', async () => {
    await open();
    await screen.findByRole('region', { name: 'Folder' });
    expect(screen.queryByRole('button', { name: 'Move…' })).toBeNull();
  });

  test('shows a snapshot that the engine lists only at the end of its task', async () => {
    service.on('GET /api/capabilities', buildCapabilities([ALL]));
    let listed: readonly object[] = [];
    service.on(`GET ${API}/snapshots`, () => ({ body: listed }));
    service.on(`POST ${API}/snapshots`, { name: 'late', task: '7' });
    const { user, receive } = await open('/snapshots');
    await screen.findByText('No snapshots yet');
    await user.click(screen.getByRole('button', { name: 'Create snapshot' }));
    await screen.findByText('Created snapshot late');
    expect(screen.queryByRole('button', { name: 'Restore late' })).toBeNull();
    listed = [{ name: 'late', phase: 'Succeeded', creationTime: '2026-01-01T00:00:00Z', ready: true }];
    await receive(() => service.pageStream.emit('tasks.changed', buildTask({ id: '7', status: 'done' })));
    expect(await screen.findByRole('button', { name: 'Restore late' })).toBeTruthy();
  });

  test('takes, restores and deletes snapshots with their plans, and clones', async () => {
    service.on('GET /api/capabilities', buildCapabilities([ALL]));
    const snapshot = { name: 'one', phase: 'Succeeded', creationTime: '2026-01-01T00:00:00Z', ready: true };
    service.on(`GET ${API}/snapshots`, [snapshot]);
    service.on(`POST ${API}/snapshots`, { name: 'two' });
    service.on(`POST ${API}/snapshots/one/restore`, ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'restoring' },
    }));
    service.on(`POST ${API}/clone`, ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { target: 'copy', ref: 'ct/prod/tailvm/copy' },
    }));
    const { user } = await open('/snapshots');
    expect(await screen.findByText('one')).toBeTruthy();
    expect(screen.queryByRole('switch', { name: 'Include memory' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Create snapshot' }));
    expect(await screen.findByText('Created snapshot two')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Restore one' }));
    expect(screen.getByRole(...PANEL).textContent).toContain('The container is stopped and started again.');
    await screen.findByRole('region', { name: 'Planned changes' });
    await user.click(within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Restore one' }));
    expect(await screen.findByText('box is being restored to one')).toBeTruthy();
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: 'Clone…' }));
    await user.type(screen.getByRole('textbox', { name: /Name of the clone/ }), 'copy');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await screen.findByRole('region', { name: 'Planned changes' });
    await user.click(within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Clone' }));
    expect(await screen.findByText('Cloned box')).toBeTruthy();
    expect(service.asked(`POST ${API}/clone`).at(-1)?.body).toEqual({ target: 'copy' });
  });
});

describe('the log of a container', () => {
  const stamped = (second: number, text: string): string =>
    `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z ${text}\n`;
  const log = async () => (await screen.findByRole('region', { name: 'Log of box' })).textContent;
  const write = (text: MockText, ...lines: string[]) => act(async () => void text.write(lines.join('')));

  test('is followed, searched and shown with its times', async () => {
    const text = new MockText();
    let answer = (): void => undefined;
    service.on(LOGS, () => new Promise((resolve) => void (answer = () => resolve({ text }))));
    const { user } = await open('/logs');
    expect(await screen.findByText('Loading the log')).toBeTruthy();
    await act(async () => answer());
    expect(await screen.findByText('No output yet')).toBeTruthy();
    await write(text, stamped(1, 'one'), stamped(2, 'two'));
    await waitFor(async () => expect(await log()).toBe('one\ntwo'));
    expect(Object.fromEntries(service.asked(LOGS)[0]!.query)).toEqual({
      context: 'prod',
      follow: 'true',
      tail: '1000',
      timestamps: 'true',
    });
    await write(text, stamped(3, 'three'));
    await waitFor(async () => expect(await log()).toBe('one\ntwo\nthree'));
    await user.type(screen.getByLabelText('Search the log'), 'TWO');
    expect(await log()).toBe('two');
    expect(screen.getByText('1 of 3 lines contain the text')).toBeTruthy();
    await user.click(screen.getByRole('switch', { name: 'Times' }));
    expect(await log()).toBe('2026-01-01 00:00:02.000 two');
  });

  test('shows hostile output as text, and cuts long lines', async () => {
    const text = new MockText();
    service.on(LOGS, () => ({ text }));
    await open('/logs');
    await write(text, stamped(1, '\u001b[2J<img src=x onerror=alert(1)>\u202e'), stamped(2, 'x'.repeat(100_000)));
    await waitFor(async () => expect(await log()).toContain('<img src=x onerror=alert(1)>\n'));
    expect(document.querySelector('#main img')).toBeNull();
    expect((await log())!.length).toBeLessThan(5000);
    expect(await log()).toMatch(/more characters\)$/);
  });

  test('keeps its last 5,000 lines', async () => {
    const text = new MockText();
    service.on(LOGS, () => ({ text }));
    await open('/logs');
    await write(text, ...Array.from({ length: 6000 }, (_none, index) => `line ${index}\n`));
    expect(await screen.findByText('The last 5,000 lines')).toBeTruthy();
    expect(await log()).toMatch(/^line 1000\n/);
  });

  test('continues after the last line when it breaks off, and keeps the lines meanwhile', async () => {
    const texts = [new MockText(), new MockText()];
    service.on(LOGS, () => ({ text: texts[service.asked(LOGS).length - 1] ?? new MockText() }));
    await open('/logs');
    await write(texts[0]!, stamped(1, 'one'), stamped(2, 'two'));
    await waitFor(async () => expect(await log()).toBe('one\ntwo'));
    await act(async () => void texts[0]!.breakOff());
    expect(await screen.findByText('The log broke off')).toBeTruthy();
    expect(await log()).toBe('one\ntwo');
    await waitFor(() => expect(service.asked(LOGS)).toHaveLength(2));
    expect(service.asked(LOGS)[1]?.query.get('since')).toBe('2026-01-01T00:00:02.000000000Z');
    await write(texts[1]!, stamped(2, 'two'), stamped(3, 'three'));
    await waitFor(async () => expect(await log()).toBe('one\ntwo\nthree'));
    expect(screen.queryByText('The log broke off')).toBeNull();
  });

  test('ends with the page', async () => {
    const text = new MockText();
    service.on(LOGS, () => ({ text }));
    const { user } = await open('/logs');
    await write(text, stamped(1, 'one'));
    await log();
    await user.click(screen.getByRole('tab', { name: 'Overview' }));
    await write(text, stamped(2, 'two'));
    await waitFor(() => expect(text.isCanceled).toBe(true));
  });

  test('says why there is none while the container is stopped, and opens when it is started', async () => {
    service.fails(LOGS, 409, 'The container box is stopped, and its log is gone. Start it first.', 'WRONG_STATE');
    const { show } = await open('/logs', { ...box, phase: 'Stopped', ready: false, node: '' });
    expect(await screen.findByText('The container box is stopped, and its log is gone. Start it first.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
    service.on(LOGS, () => ({ text: new MockText().write(stamped(1, 'ready')) }));
    await show(box);
    await waitFor(async () => expect(await log()).toBe('ready'));
  });

  test.each([
    [501, 'prod does not offer the logs of containers.', 'NOT_SUPPORTED'],
    [429, 'You follow 16 logs; close one of them first.', 'TOO_MANY_STREAMS'],
    [403, 'You may not read this.', 'NOT_PERMITTED'],
  ])('reports the refusal %d and retries only on request', async (status, error, code) => {
    service.fails(LOGS, status, error, code);
    const { user } = await open('/logs');
    expect(await screen.findByText(error)).toBeTruthy();
    service.on(LOGS, () => ({ text: new MockText().write(stamped(1, 'ready')) }));
    await user.click(screen.getByRole('button', { name: /retry|again/i }));
    await waitFor(async () => expect(await log()).toBe('ready'));
  });

  test('retries automatically while the context does not answer', async () => {
    service.fails(LOGS, 503, 'prod does not answer.', 'BACKEND_UNREACHABLE');
    await open('/logs');
    expect(await screen.findByText(/prod does not answer\. Retrying automatically/)).toBeTruthy();
    service.on(LOGS, () => ({ text: new MockText().write(stamped(1, 'ready')) }));
    await waitFor(async () => expect(await log()).toBe('ready'));
  });

  test('gives the reason instead of a request where the context has no logs of containers', async () => {
    const reason = 'prod does not offer the logs of containers.';
    const context = buildContext({ containerAbilities: { containerLogs: reason } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    await open('/logs');
    expect(await screen.findByText(reason)).toBeTruthy();
    expect(service.asked(LOGS)).toEqual([]);
  });

  test('has the previous run, and is downloaded as the program has written it', async () => {
    service.on(LOGS, () => ({ text: new MockText().write(stamped(1, 'one')).end(), body: new Blob(['one']) }));
    const { user } = await open('/logs');
    await user.click(await screen.findByRole('switch', { name: 'Previous run' }));
    await waitFor(() => expect(service.asked(LOGS).at(-1)?.query.get('previous')).toBe('true'));
    expect(service.asked(LOGS).at(-1)?.query.get('follow')).toBeNull();
    expect(screen.queryByRole('switch', { name: 'Follow' })).toBeNull();
    const saved: string[] = [];
    Object.assign(URL, { createObjectURL: () => 'blob:log', revokeObjectURL: () => undefined });
    HTMLAnchorElement.prototype.click = function (this: HTMLAnchorElement) {
      saved.push(this.download);
    };
    await user.click(screen.getByRole('button', { name: 'Download' }));
    await waitFor(() => expect(saved).toHaveLength(1));
    expect(saved[0]).toMatch(/^box-.*\.log$/);
    expect(Object.fromEntries(service.asked(LOGS).at(-1)!.query)).toEqual({
      context: 'prod',
      previous: 'true',
      tail: '100000',
    });
  });
});
