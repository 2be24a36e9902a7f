import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { MetricsSampleView, UsageHistoryView } from '@headgate/api-contracts';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const GIB = 1024 ** 3;
const NOW = Date.UTC(2026, 0, 1);
const PAGE = '/vms/prod/tailvm/web-1/overview';
/** Where the charts were before. */
const OLD_PAGE = '/vms/prod/tailvm/web-1/metrics';
const HISTORY = 'GET /api/vms/tailvm/web-1/metrics/history';

const sample = (t: number, values: Partial<MetricsSampleView> = {}): MetricsSampleView => ({
  t,
  cpu: 500,
  memory: { usedBytes: GIB, totalBytes: 4 * GIB },
  disk: { readBytesPerSecond: 1024, writeBytesPerSecond: 2048 },
  network: null,
  ...values,
});

const STEPS = 'GET /api/ext/vms/tailvm/web-1/metrics/history';
const HOUR_MS = 3_600_000;

/** The last 7 days with two steps, an hour before the end, of which the second has a peak. */
const week = (more: Partial<UsageHistoryView> = {}): UsageHistoryView => {
  const t = NOW - HOUR_MS;
  return {
    range: '7d',
    from: NOW - 7 * 24 * HOUR_MS,
    to: NOW,
    stepMs: HOUR_MS / 4,
    recordedSince: t,
    points: [
      { ...sample(t), max: sample(t) },
      { ...sample(t + HOUR_MS / 4), max: sample(t, { cpu: 1900 }) },
    ],
    ...more,
  };
};

describe('the metrics of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  test('are charts with the current values in words, and a table of all values', async () => {
    service.on(HISTORY, [sample(NOW - 15_000, { cpu: null }), sample(NOW)]);
    const { user } = await openConsole(PAGE, [buildVm()], service);
    const chart = (name: string) => within(screen.getByRole('region', { name }));
    expect(await screen.findByRole('region', { name: 'CPU, 25%' })).toBeTruthy();
    expect(chart('CPU, 25%').getByText('CPU: 0.50 CPUs')).toBeTruthy();
    expect(
      chart('CPU, 25%').getByRole('img', { name: /^CPU, 25% over the last hour, from 0 to 2.00 CPUs$/ }),
    ).toBeTruthy();
    expect(chart('Memory').getByRole('img', { name: /from 0 to 4 GiB$/ })).toBeTruthy();
    expect(chart('Disk').getByText('Read: 1 KiB/s')).toBeTruthy();
    expect(chart('Disk').getByText('Write: 2 KiB/s')).toBeTruthy();
    expect(chart('Network').getByText('This context reports no values')).toBeTruthy();
    expect(chart('Network').queryByRole('img')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'All values as a table' }));
    const rows = within(screen.getByRole('table')).getAllByRole('row');
    expect(rows).toHaveLength(3);
    expect(rows[1]?.textContent).toContain('0.50 CPUs1 GiB1 KiB/s2 KiB/s––');
    expect(rows[2]?.textContent).toContain('–1 GiB');
    expect(service.asked(HISTORY)[0]?.query.get('context')).toBe('prod');
  });

  test('say why there are none', async () => {
    service.on(HISTORY, []);
    service.on('GET /api/vms/tailvm/web-1/metrics', { cpu: null, reason: 'prod needs the metrics-server.' });
    await openConsole(PAGE, [buildVm()], service);
    expect(await screen.findByText('prod needs the metrics-server.')).toBeTruthy();
  });

  test('say that a stopped VM is not measured', async () => {
    service.on(HISTORY, []);
    service.on('GET /api/vms/tailvm/web-1/metrics', { cpu: null });
    await openConsole(PAGE, [buildStoppedVm()], service);
    expect(await screen.findByText('A VM is measured while it runs.')).toBeTruthy();
  });

  test('report an error, and load again on request', async () => {
    service.fails(HISTORY, 503, 'prod does not answer.');
    const { user } = await openConsole(PAGE, [buildVm()], service);
    expect(await screen.findByText('prod does not answer.')).toBeTruthy();
    service.on(HISTORY, [sample(NOW)]);
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('region', { name: 'Memory' })).toBeTruthy();
  });

  test('of a longer range are averages and maxima, with the range in the address', async () => {
    service.on(HISTORY, [sample(NOW)]);
    service.on(STEPS, week());
    const { user } = await openConsole(PAGE, [buildVm()], service);
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Range' }), 'Last 7 days');
    expect(location.hash).toBe(`#${PAGE}?range=7d`);
    expect(service.asked(STEPS)[0]?.query.get('range')).toBe('7d');
    expect(service.asked(STEPS)[0]?.query.get('context')).toBe('prod');
    const cpu = within(await screen.findByRole('region', { name: 'CPU' }));
    expect(cpu.getByText('CPU: 0.50 CPUs, max 1.90 CPUs')).toBeTruthy();
    const image = cpu.getByRole('img', { name: 'CPU over the last 7 days, from 0 to 2.00 CPUs' });
    expect(image.querySelectorAll('.hg-chart-band')).toHaveLength(1);
    // The steps are at their time within the whole range, not stretched over the chart.
    expect(image.querySelector('.hg-chart-line--1')?.getAttribute('d')).toMatch(/^M596\.4 /);
    await user.click(screen.getByRole('button', { name: 'All values as a table' }));
    const table = within(screen.getByRole('table', { name: 'Metrics of the last 7 days, newest first' }));
    const [, newest, oldest] = table.getAllByRole('row');
    expect(newest?.textContent).toContain('0.50 CPUs, max 1.90 CPUs1 GiB');
    expect(oldest?.textContent).not.toContain('max');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Range' }), 'Last hour');
    expect(location.hash).toBe(`#${PAGE}`);
    expect(await screen.findByRole('region', { name: 'CPU, 25%' })).toBeTruthy();
  });

  test('are found at their old address, with its range', async () => {
    service.on(STEPS, week());
    await openConsole(`${OLD_PAGE}?range=7d`, [buildVm()], service);
    expect(await screen.findByRole('img', { name: /^CPU over the last 7 days/ })).toBeTruthy();
    expect(location.hash).toBe(`#${PAGE}?range=7d`);
    expect(screen.queryByRole('tab', { name: 'Metrics' })).toBeNull();
  });

  test('of a range that began before the record say since when there are values', async () => {
    service.on(STEPS, week());
    await openConsole(`${PAGE}?range=7d`, [buildVm()], service);
    const note = await screen.findByText(/^Recorded since/);
    expect(note.querySelector('time')?.getAttribute('datetime')).toBe(new Date(NOW - HOUR_MS).toISOString());
    expect(service.asked(HISTORY)).toEqual([]);
  });

  test('of a simulated past say until when, in the note, at the pointer and in the table', async () => {
    const { points } = week();
    const [first, second] = points;
    service.on(STEPS, week({ recordedSince: second!.t, points: [{ ...first!, simulated: true }, second!] }));
    const { user } = await openConsole(`${PAGE}?range=7d`, [buildVm()], service);
    const note = await screen.findByText(/^Simulated until/);
    expect(note.querySelector('time')?.getAttribute('datetime')).toBe(new Date(second!.t).toISOString());
    expect(screen.queryByText(/^Recorded since/)).toBeNull();
    const cpu = within(screen.getByRole('region', { name: 'CPU' }));
    expect(cpu.queryByText(/Simulated/)).toBeNull();
    const image = cpu.getByRole('img');
    image.getBoundingClientRect = () => ({ left: 0, width: 600 }) as DOMRect;
    fireEvent.pointerMove(image);
    expect(cpu.getByText(/Simulated/)).toBeTruthy();
    fireEvent.pointerLeave(image);
    expect(cpu.queryByText(/Simulated/)).toBeNull();
    await user.click(screen.getByRole('button', { name: 'All values as a table' }));
    const [, newest, oldest] = within(screen.getByRole('table')).getAllByRole('row');
    expect(newest?.textContent).not.toContain('Simulated');
    expect(oldest?.textContent).toContain('Simulated');
  });

  test('of a stopped VM with nothing but a simulated past are shown', async () => {
    const points = week().points.map((point) => ({ ...point, simulated: true }));
    service.on(STEPS, week({ recordedSince: undefined, points }));
    await openConsole(`${PAGE}?range=7d`, [buildStoppedVm()], service);
    expect(await screen.findByText(/^Simulated until/)).toBeTruthy();
    expect(screen.getByRole('region', { name: 'CPU' })).toBeTruthy();
  });

  test('of a range that was recorded from its beginning have no such note', async () => {
    const { from, stepMs } = week();
    service.on(STEPS, week({ recordedSince: from + stepMs }));
    await openConsole(`${PAGE}?range=7d`, [buildVm()], service);
    expect(await screen.findByRole('region', { name: 'CPU' })).toBeTruthy();
    expect(screen.queryByText(/^Recorded since/)).toBeNull();
  });

  test('of a longer range without any value are not invented, and the range can be changed', async () => {
    service.on(STEPS, week({ range: '30d', recordedSince: undefined, points: [] }));
    service.on('GET /api/vms/tailvm/web-1/metrics', { cpu: null });
    await openConsole(`${PAGE}?range=30d`, [buildStoppedVm()], service);
    expect(await screen.findByRole('heading', { name: 'No metrics in the last 30 days' })).toBeTruthy();
    expect(screen.getByText('A VM is measured while it runs.')).toBeTruthy();
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Range' }).value).toBe('30d');
  });

  test('of a longer range report an error, and load again on request', async () => {
    service.fails(STEPS, 503, 'prod does not answer.');
    const { user } = await openConsole(`${PAGE}?range=24h`, [buildVm()], service);
    expect(await screen.findByText('prod does not answer.')).toBeTruthy();
    service.on(STEPS, week());
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('region', { name: 'Memory' })).toBeTruthy();
  });

  test('of an unknown range in the address are those of the last hour', async () => {
    service.on(HISTORY, [sample(NOW)]);
    await openConsole(`${PAGE}?range=90d`, [buildVm()], service);
    expect(await screen.findByRole('img', { name: /^CPU, 25% over the last hour/ })).toBeTruthy();
  });

  test('are columns of the list, which sorts by them', async () => {
    localStorage.setItem('headgate.columns-vms', JSON.stringify(['name', 'cpuUsage', 'memUsage']));
    const names = ['idle', 'busy', 'unknown'];
    const vms = names.map((name) => buildVm({ name }));
    const usage = (index: number, cpu: number) => ({ ref: vms[index]!.ref, usage: { ...sample(NOW), cpu } });
    const { user, receive } = await openConsole('/vms', vms, service);
    await receive(() => service.pageStream.emit('usage.snapshot', [usage(0, 20), usage(1, 2200)]));
    await waitFor(() => expect(screen.getByRole('row', { name: /busy/ }).textContent).toContain('110%25%'));
    expect(screen.getByRole('row', { name: /idle/ }).textContent).toContain('1%25%');
    expect(screen.getByRole('row', { name: /unknown/ }).textContent).not.toContain('%');
    const order = () =>
      screen.getAllByRole('row').flatMap((row) => names.find((name) => row.textContent?.includes(name)) ?? []);
    await user.click(screen.getByRole('button', { name: /CPU use/ }));
    await waitFor(() => expect(order()).toEqual(['busy', 'idle', 'unknown']));
    await user.click(screen.getByRole('button', { name: /CPU use/ }));
    await waitFor(() => expect(order()).toEqual(['idle', 'busy', 'unknown']));
  });
});
