import { screen, waitFor, within } from '@testing-library/react';
import type { MetricsSampleView } from '@headgate/api-contracts';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const GIB = 1024 ** 3;
const NOW = Date.UTC(2026, 0, 1);
const PAGE = '/vms/prod/tailvm/web-1/metrics';
const HISTORY = 'GET /api/vms/tailvm/web-1/metrics/history';

const sample = (t: number, values: Partial<MetricsSampleView> = {}): MetricsSampleView => ({
  t,
  cpu: 500,
  memory: { usedBytes: GIB, totalBytes: 4 * GIB },
  disk: { readBytesPerSecond: 1024, writeBytesPerSecond: 2048 },
  network: null,
  ...values,
});

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
