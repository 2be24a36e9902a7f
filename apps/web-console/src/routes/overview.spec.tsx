import { act, screen, waitFor, within } from '@testing-library/react';
import type { InstanceEventView, WatcherView } from '@headgate/api-contracts';
import { jest } from '@jest/globals';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PAGE = '/vms/prod/tailvm/web-1';
const VM = '/api/vms/tailvm/web-1';
const EXT = '/api/ext/vms/tailvm/web-1';
const SCREEN = `GET ${EXT}/screen`;
const MINUTE_MS = 60_000;

const picture = (takenAt: Date) => () => ({
  body: new Blob(['png'], { type: 'image/png' }),
  headers: { 'svc-taken-at': takenAt.toISOString() },
});
const region = (name: string) => within(screen.getByRole('region', { name }));
const watcher = (more: Partial<WatcherView>): WatcherView => ({
  who: 'bob',
  kind: 'vnc',
  since: '2026-01-01T00:00:00.000Z',
  mayType: true,
  you: false,
  ...more,
});

describe('the overview of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => {
    jest.useRealTimers();
    closeConsole(service);
  });

  describe('shows the screen', () => {
    test('as a picture that leads to the console', async () => {
      service.on(SCREEN, picture(new Date()));
      const { user } = await openConsole(PAGE, [buildVm()], service);
      const image = await screen.findByRole<HTMLImageElement>('img', { name: 'Screen of web-1' });
      expect(image.src).toMatch(/^data:image\/png;base64,/);
      expect(screen.queryByText(/^Last picture/)).toBeNull();
      expect(Object.fromEntries(service.asked(SCREEN)[0]?.query ?? [])).toEqual({ context: 'prod', width: '640' });
      await user.click(screen.getByRole('link', { name: 'Open console of web-1' }));
      expect(location.hash).toBe(`#${PAGE}/console`);
    });

    test('with its age when it is an old one', async () => {
      const takenAt = new Date(Date.now() - MINUTE_MS);
      service.on(SCREEN, picture(takenAt));
      await openConsole(PAGE, [buildVm()], service);
      const age = await screen.findByText(/^Last picture of/);
      expect(age.querySelector('time')?.getAttribute('datetime')).toBe(takenAt.toISOString());
    });

    test('again after 7 s, as long as it can be shown', async () => {
      jest.useFakeTimers({ advanceTimers: true });
      service.on(SCREEN, picture(new Date()));
      await openConsole(PAGE, [buildVm()], service);
      await screen.findByRole('img', { name: 'Screen of web-1' });
      service.fails(SCREEN, 501, 'web-1 has no screen.', 'NOT_SUPPORTED');
      await act(async () => void jest.advanceTimersByTime(7_000));
      await waitFor(() => expect(service.asked(SCREEN)).toHaveLength(2));
      await screen.findByText(/^Last picture of/);
      await act(async () => void jest.advanceTimersByTime(70_000));
      expect(service.asked(SCREEN)).toHaveLength(2);
    });

    test('as a sentence where there is none, without a request for a VM that is off', async () => {
      service.fails(SCREEN, 501, 'web-1 has no graphics device.', 'NOT_SUPPORTED');
      const { receive } = await openConsole(PAGE, [buildVm()], service);
      expect(await screen.findByText('web-1 has no graphics device.')).toBeTruthy();
      const before = service.asked(SCREEN).length;
      await receive(() => service.stream.emit('changed', buildStoppedVm()));
      expect(await screen.findByText('The screen is off')).toBeTruthy();
      expect(service.asked(SCREEN)).toHaveLength(before);
    });
  });

  test.each<[string, WatcherView[], string]>([
    ['another user', [watcher({})], 'bob is watching'],
    ['two users', [watcher({}), watcher({ who: 'eve', kind: 'serial' }), watcher({})], 'bob and eve are watching'],
    ['three', [watcher({}), watcher({ who: 'eve' }), watcher({ who: '' })], 'bob and 2 others are watching'],
    ['the same user elsewhere', [watcher({ you: true })], 'You are watching in another window'],
  ])('names those who watch: %s', async (_who, watchers, text) => {
    service.on(`GET ${EXT}/watchers`, { watchers });
    await openConsole(PAGE, [buildVm()], service);
    expect(await screen.findByText(text)).toBeTruthy();
  });

  test('names those who watch on the page of the console as well, without the one of this page', async () => {
    service.on(`GET ${EXT}/watchers`, { watchers: [watcher({ you: true }), watcher({})] });
    await openConsole(`${PAGE}/serial`, [buildVm()], service);
    expect((await screen.findByText('bob is watching')).textContent).not.toContain('you');
  });

  test('shows the guest, its file systems and the way to the rest', async () => {
    const sized = (mountPoint: string, usedBytes: number | null) => ({
      disk: 'vda',
      type: 'ext4',
      mountPoint,
      usedBytes,
      totalBytes: 10 * 1024 ** 3,
    });
    service.on(`GET ${VM}/guestinfo`, {
      os: { hostname: 'web', id: 'debian', name: 'Debian', prettyName: 'Debian 13', version: '13', kernel: '6.12' },
      users: [
        { name: 'ann', loginTime: null },
        { name: 'ann', loginTime: null },
      ],
      filesystems: [sized('/', 9 * 1024 ** 3), sized('/boot', 1024 ** 3), sized('/proc', null)],
    });
    await openConsole(PAGE, [buildVm()], service);
    const guest = region('Guest');
    expect(await guest.findByText('Debian 13, kernel 6.12')).toBeTruthy();
    expect(guest.getByText('ann')).toBeTruthy();
    const row = guest.getByText('9 GiB of 10 GiB').closest('.hg-space');
    expect(row?.querySelector('.hg-space-bar--bad')).toBeTruthy();
    expect(guest.getByText('1 GiB of 10 GiB').closest('.hg-space')?.querySelector('.hg-space-bar--usual')).toBeTruthy();
    expect(guest.queryByText('/proc')).toBeNull();
    expect(guest.getByRole('link', { name: 'Details' }).getAttribute('href')).toBe(`#${PAGE}/guest`);
  });

  test('shows the hardware, and what waits for a restart as a difference', async () => {
    service.on(`GET ${EXT}/hardware`, {
      cpu: 2,
      maxCpu: null,
      mem: '4Gi',
      maxMem: null,
      autostart: null,
      placement: {},
      bootOrder: [],
      disks: [
        { pvc: 'web-1-root', device: 'vda', type: 'disk', bus: 'virtio', size: '20Gi' },
        { pvc: null, device: 'sda', type: 'cdrom', bus: 'sata', size: null },
        { pvc: 'data', device: 'vdb', type: 'disk', bus: 'virtio', size: '200Gi' },
      ],
      nics: [{ iface: 'net0', nad: 'lan', mac: '52:54:00:24:df:58', model: 'virtio', link: 'up' }],
      hostDevices: [],
      pending: [{ field: 'memory', running: '4Gi', configured: '8Gi' }],
    });
    await openConsole(PAGE, [buildVm()], service);
    const hardware = region('Hardware');
    expect(await hardware.findByText('20 GiB, web-1-root')).toBeTruthy();
    expect(hardware.getByText('Disk vdb').nextElementSibling?.textContent).toBe('200 GiB, data');
    expect(hardware.queryByText(/sda/)).toBeNull();
    expect(hardware.getByText('52:54:00:24:df:58')).toBeTruthy();
    const change = hardware.getByText('8 GiB').closest('p');
    expect([change?.querySelector('del')?.textContent, change?.textContent]).toEqual(['4 GiB', 'memory 4 GiB → 8 GiB']);
  });

  test('marks what happened on the axis of the charts, and lists it', async () => {
    const now = Date.UTC(2026, 0, 1);
    const event = (minutesAgo: number, more: Partial<InstanceEventView>): InstanceEventView => ({
      time: new Date(now - minutesAgo * MINUTE_MS).toISOString(),
      type: 'Normal',
      reason: 'tag',
      message: '',
      object: 'web-1',
      source: 'service',
      caller: 'ann',
      ...more,
    });
    service.on(`GET ${VM}/metrics/history`, [{ t: now, cpu: 500, memory: null, disk: null, network: null }]);
    service.on(`GET ${VM}/events`, [
      event(15, { reason: 'snapshot', message: 'before tls' }),
      event(30, { type: 'Warning', reason: 'FailedScheduling', source: 'cluster', caller: undefined }),
      event(40, { reason: 'SuccessfulCreate', source: 'cluster', caller: undefined }),
      event(90, { reason: 'restart' }),
    ]);
    await openConsole(PAGE, [buildVm()], service);
    const marks = within(await screen.findByRole('list', { name: 'Events in this time' })).getAllByRole('listitem');
    expect(marks.map(({ style }) => style.insetInlineStart)).toEqual(['75%', '50%']);
    expect(marks.map(({ textContent }) => textContent?.split(',')[0])).toEqual([
      'snapshot: before tls',
      'FailedScheduling',
    ]);
    expect(marks[1]?.className).toContain('hg-time-mark--failure');
    const chart = screen.getByRole('img', { name: /^CPU/ });
    expect([...chart.querySelectorAll('.hg-chart-mark')].map((path) => path.getAttribute('d'))).toEqual([
      'M450 0v120',
      'M300 0v120',
    ]);
    const entries = region('Activity').getAllByRole('listitem');
    expect(entries.map(({ textContent }) => textContent?.replace(/·.*/, ''))).toEqual([
      'snapshot: before tlsann ',
      'FailedSchedulingCluster ',
      'SuccessfulCreateCluster ',
      'restartann ',
    ]);
    expect(region('Activity').getByRole('link', { name: 'All' }).getAttribute('href')).toBe(`#${PAGE}/events`);
  });

  test('shows each part that failed as a sentence, and the others', async () => {
    service.fails(`GET ${VM}/guestinfo`, 503, 'The agent does not answer.', 'GUEST_AGENT_UNREACHABLE');
    service.fails(`GET ${EXT}/hardware`, 503, 'prod does not answer.', 'BACKEND_UNREACHABLE');
    service.fails(`GET ${VM}/events`, 502, 'No events today.', 'BACKEND_FAILED');
    await openConsole(PAGE, [buildVm()], service);
    expect(await screen.findByText('The agent does not answer.')).toBeTruthy();
    expect(await screen.findByText('No events today.')).toBeTruthy();
    expect(region('Hardware').getByText('4 GiB')).toBeTruthy();
    expect(region('Place').getByRole('link', { name: 'node-1' })).toBeTruthy();
  });
});
