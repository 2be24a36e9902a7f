import { screen, within } from '@testing-library/react';
import { buildContext, buildCapabilities } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const VM = '/vms/prod/tailvm/web-1';
const INSTANCE = '/api/vms/tailvm/web-1';

interface PageRequest {
  readonly path: string;
  readonly request: string;
  /** The title of the alert when the request fails. */
  readonly failure: string;
  /** The answer that has nothing to show, and what the page says then. */
  readonly empty?: readonly [answer: unknown, text: string];
  /** The other requests of the page. */
  readonly others?: Readonly<Record<string, unknown>>;
}

const NO_GUEST_INFO = { os: {}, users: [], filesystems: [] };
const NO_HARDWARE = {
  cpu: 2,
  maxCpu: null,
  mem: '4Gi',
  maxMem: null,
  disks: [],
  nics: [],
  bootOrder: [],
  autostart: null,
  placement: { dedicated: null, pinning: { vcpus: [], emulatorCpus: null, memory: null, cells: [] }, hugepages: null },
  hostDevices: [],
  pending: [],
};
const NIGHTLY = '/api/ext/backups/targets/feed000000000001';
const TARGETS = 'GET /api/ext/backups/targets';
const SNAPSHOTS = 'GET /api/vms/tailvm/web-1/snapshots';
const CHECKPOINTS = 'GET /api/ext/vms/tailvm/web-1/checkpoints';

const PAGES: readonly PageRequest[] = [
  {
    path: '/nodes',
    request: 'GET /api/ext/nodes',
    failure: "Couldn't load the nodes",
    empty: [[], 'No reachable context has a node.'],
  },
  {
    path: '/storage',
    request: 'GET /api/ext/storage',
    failure: "Couldn't load the storage",
    empty: [[], 'No reachable context has a storage pool or a storage class.'],
  },
  {
    path: '/networks',
    request: 'GET /api/ext/networks',
    failure: "Couldn't load the networks",
    empty: [[], 'No reachable context has a network for more NICs'],
  },
  {
    path: '/images',
    request: 'GET /api/datavolumes',
    failure: "Couldn't load the images",
    empty: [[], 'No imported images'],
    others: { 'GET /api/sources': [] },
  },
  {
    path: '/images',
    request: 'GET /api/sources',
    failure: "Couldn't load the sources",
    empty: [[], 'No custom sources yet'],
    others: { 'GET /api/datavolumes': [] },
  },
  {
    path: '/plugins',
    request: 'GET /api/plugins',
    failure: "Couldn't load the plugins",
    empty: [[], 'No plugins'],
  },
  {
    path: '/doctor',
    request: 'GET /api/ext/doctor',
    failure: "Couldn't run the checks",
    empty: [[], 'No reachable context has checks. Run them again when a context is reachable.'],
  },
  {
    path: '/journal',
    request: 'GET /api/ext/journal',
    failure: "Couldn't load the journal",
    empty: [[], 'Changes and denied requests appear here, with their user and outcome.'],
    others: { 'GET /api/ext/journal/summary': { entries: 0, failed: 0, denied: 0, objects: 0, callers: [] } },
  },
  {
    path: '/backups',
    request: 'GET /api/ext/backups/targets',
    failure: "Couldn't load the backup targets",
    empty: [[], 'No backup targets yet'],
  },
  {
    path: '/backups',
    request: `GET ${NIGHTLY}/points`,
    failure: "Couldn't load the backups in nightly",
    empty: [[], 'No backups yet'],
    others: {
      [TARGETS]: [{ id: 'feed000000000001', name: 'nightly', kind: 'directory', createdAt: '2026-01-01T00:00:00Z' }],
      [`GET ${NIGHTLY}/state`]: { state: 'ready', points: 0, usedBytes: 0 },
    },
  },
  {
    path: '/messages',
    request: 'GET /api/ext/messages/rules',
    failure: "Couldn't load the rules",
    empty: [[], 'No rules yet'],
    others: { 'GET /api/ext/messages/channels': [], 'GET /api/ext/messages': [] },
  },
  {
    path: '/messages',
    request: 'GET /api/ext/messages/channels',
    failure: "Couldn't load the channels",
    empty: [[], 'No channels yet'],
    others: { 'GET /api/ext/messages/rules': [], 'GET /api/ext/messages': [] },
  },
  {
    path: '/messages',
    request: 'GET /api/ext/messages',
    failure: "Couldn't load the messages",
    empty: [[], 'No messages yet'],
    others: { 'GET /api/ext/messages/rules': [], 'GET /api/ext/messages/channels': [] },
  },
  {
    path: '/access',
    request: 'GET /api/ext/roles',
    failure: "Couldn't load the roles",
    empty: [[], 'No roles yet: they are off.'],
  },
  {
    path: '/integrations',
    request: 'GET /api/ext/tokens',
    failure: "Couldn't load the API tokens",
    empty: [[], 'No API tokens yet'],
    others: { 'GET /api/ext/webhooks': [] },
  },
  {
    path: '/integrations',
    request: 'GET /api/ext/webhooks',
    failure: "Couldn't load the webhooks",
    empty: [[], 'No webhooks yet'],
    others: { 'GET /api/ext/tokens': [] },
  },
  {
    path: '/schedules',
    request: 'GET /api/ext/schedules',
    failure: "Couldn't load the schedules",
    empty: [[], 'No schedules yet'],
    others: { 'GET /api/folders': { folders: [] }, 'POST /api/ext/schedules/preview': { times: [] } },
  },
  {
    path: '/approvals',
    request: 'GET /api/ext/approvals',
    failure: "Couldn't load the approvals",
    empty: [[], 'No change waits for an approval'],
  },
  {
    path: '/settings',
    request: 'GET /api/ext/contexts',
    failure: "Couldn't load the contexts",
    empty: [{ contexts: [], kinds: ['kubevirt'] }, 'No contexts yet'],
  },
  {
    path: `${VM}/guest`,
    request: `GET ${INSTANCE}/guestinfo`,
    failure: "Couldn't read the guest information",
    empty: [NO_GUEST_INFO, 'The guest agent reports no file systems'],
  },
  {
    path: `${VM}/metrics`,
    request: `GET ${INSTANCE}/metrics/history`,
    failure: "Couldn't load the metrics",
    empty: [[], 'The first values appear within a minute.'],
    others: { [`GET ${INSTANCE}/metrics`]: {} },
  },
  {
    path: `${VM}/hardware`,
    failure: "Couldn't load the hardware",
    request: 'GET /api/ext/vms/tailvm/web-1/hardware',
    empty: [NO_HARDWARE, 'No disks'],
  },
  {
    path: `${VM}/snapshots`,
    request: SNAPSHOTS,
    failure: "Couldn't load the snapshots",
    empty: [[], 'No snapshots yet'],
    others: { [CHECKPOINTS]: [] },
  },
  {
    path: `${VM}/snapshots`,
    request: CHECKPOINTS,
    failure: "Couldn't load the checkpoints",
    empty: [[], 'No checkpoints yet'],
    others: { [SNAPSHOTS]: [] },
  },
  {
    path: `${VM}/events`,
    request: `GET ${INSTANCE}/events`,
    failure: "Couldn't load the events",
    empty: [[], 'No events yet'],
  },
  { path: `${VM}/manifest`, request: `GET ${INSTANCE}`, failure: "Couldn't load the manifest" },
];

const REASONS = [
  [403, 'Your role does not allow this.'],
  [500, 'The service has an internal error.'],
  [501, 'prod does not support this.'],
] as const;

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/capabilities', buildCapabilities([buildContext()]));
});
afterEach(() => closeConsole(service));

/** Headings that are more than one level below the one before them. A page begins with its only heading of level 1. */
function skippedHeadings(): string[] {
  const headings = screen
    .getAllByRole('heading')
    .map((heading) => ({ level: Number(heading.tagName.slice(1)), text: heading.textContent ?? '' }));
  expect(headings.filter(({ level }) => level === 1)).toHaveLength(1);
  return headings.filter(({ level }, index) => level > (headings[index - 1]?.level ?? 0) + 1).map(({ text }) => text);
}

const open = async ({ path, others = {} }: PageRequest) => {
  for (const [request, answer] of Object.entries(others)) service.on(request, answer);
  return openConsole(path, [buildVm()], service);
};

describe.each(PAGES)('$path, for $request,', (page) => {
  test.each(REASONS)('shows the reason of an error %i in an alert, and no endless progress', async (status, reason) => {
    service.fails(page.request, status, reason);
    await open(page);
    const alert = within(await screen.findByRole('alert'));
    expect(alert.getByText(page.failure)).toBeTruthy();
    expect(alert.getByText(reason)).toBeTruthy();
    expect(alert.getByRole('button', { name: 'Try again' })).toBeTruthy();
    expect(screen.queryByRole('progressbar')).toBeNull();
    expect(document.querySelector('.hg-skeleton')).toBeNull();
  });

  test('loads again when the user asks for it after an error', async () => {
    service.fails(page.request, 500, 'The service has an internal error.');
    const { user } = await open(page);
    const retry = await screen.findByRole('button', { name: 'Try again' });
    const before = service.asked(page.request).length;
    await user.click(retry);
    await screen.findByText('The service has an internal error.');
    expect(service.asked(page.request).length).toBeGreaterThan(before);
  });

  const { empty } = page;
  if (empty)
    test('says so when there is nothing to show', async () => {
      service.on(page.request, empty[0]);
      await open(page);
      expect(await screen.findByText(empty[1])).toBeTruthy();
      expect(screen.queryByRole('alert')).toBeNull();
      expect(skippedHeadings()).toEqual([]);
    });
});

describe.each([
  ['/vms', 'vms', "Couldn't load", 'No virtual machines yet'],
  ['/containers', 'cts', "Couldn't load", 'No containers yet'],
] as const)('%s', (path, list, failure, empty) => {
  test.each(REASONS)('shows the reason of an error %i in an alert', async (status, reason) => {
    for (const one of ['vms', 'cts']) service.fails(`GET /api/${one}`, status, reason);
    const { receive } = await openConsole(path, undefined, service);
    await receive(() => service.pageStream.break());
    expect(await screen.findByText(new RegExp(failure))).toBeTruthy();
    expect(screen.getByText(reason)).toBeTruthy();
  });

  test('says so when there is nothing to show', async () => {
    const { receive } = await openConsole(path, undefined, service);
    await receive(() => service.listInStream(list).snapshot([]));
    expect(await screen.findByText(empty)).toBeTruthy();
    expect(skippedHeadings()).toEqual([]);
  });
});
