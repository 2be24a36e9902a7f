import { act, cleanup, render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { VmView } from '@headgate/api-contracts';
import { App } from '../app/app.js';
import { deleteDraft } from '../shared/creation/drafts.js';
import { buildCapabilities } from './build-capabilities.js';
import { MockService } from './mock-service.js';

export interface OpenConsole {
  readonly service: MockService;
  readonly user: ReturnType<typeof userEvent.setup>;
  /** Runs something on the service's side, and waits until the page has processed it. */
  receive(send: () => void): Promise<void>;
}

/** 24 hours without any action. */
const NO_ACTIONS = { range: '24h', from: 0, to: 86_400_000, stepMs: 600_000, counts: [] };

/** A service that answers only the requests that every page sends. */
export function givenService(): MockService {
  const service = new MockService();
  service.on('GET /api/whoami', { login: 'ada@example.org', name: 'Ada', admin: true, enforced: false });
  service.on('GET /api/capabilities', buildCapabilities());
  service.on('GET /api/tasks', []);
  service.on('GET /api/vms', []);
  service.on('GET /api/cts', []);
  // The numbers next to the pages
  service.on('GET /api/nodes', []);
  service.on('GET /api/datavolumes', []);
  service.on('GET /api/doctor', []);
  service.on('GET /api/ext/doctor', []);
  service.on('GET /api/ext/approvals', []);
  service.on('GET /api/ext/journal/activity', NO_ACTIONS);
  service.on('GET /api/ext/journal', []);
  givenOverview(service);
  // The choices of the pages that create instances
  service.on('GET /api/nads', []);
  service.on('GET /api/ext/ssh-keys', []);
  service.on('GET /api/ext/views', []);
  service.on('GET /api/ext/backups/targets', []);
  service.on('GET /api/folders', { folders: [], unfoldered: { running: 0, total: 0 } });
  service.install();
  return service;
}

/** The page of each VM begins with these. A test that is about one of them defines its answer. */
function givenOverview(service: MockService): void {
  const vm = '[^/]+/[^/]+';
  const os = { hostname: '', id: '', name: '', prettyName: '', version: '', kernel: '' };
  const placement = { cpus: null, memory: null };
  service
    .usually(/^GET \/api\/ext\/changes$/, [])
    .usually(new RegExp(`^GET /api/vms/${vm}/(metrics/history|events)$`), [])
    .usually(new RegExp(`^GET /api/vms/${vm}/metrics$`), { cpu: null })
    .usually(new RegExp(`^GET /api/vms/${vm}/guestinfo$`), { os, users: [], filesystems: [] })
    .usually(new RegExp(`^GET /api/ext/vms/${vm}/watchers$`), { watchers: [] })
    .usually(new RegExp(`^GET /api/ext/vms/${vm}/hardware$`), {
      cpu: 2,
      maxCpu: null,
      mem: '4Gi',
      maxMem: null,
      autostart: null,
      placement,
      disks: [],
      nics: [],
      bootOrder: [],
      hostDevices: [],
      pending: [],
    })
    .usually(
      new RegExp(`^GET /api/ext/vms/${vm}/screen$`),
      { error: 'There is no screen.', code: 'NOT_SUPPORTED' },
      501,
    );
}

/** Opens the whole console at a path, with these VMs in its fleet. */
export async function openConsole(
  path: string,
  entries?: readonly VmView[],
  service = givenService(),
): Promise<OpenConsole> {
  history.replaceState(null, '', `#${path}`);
  const user = userEvent.setup({ delay: null });
  render(<App />);
  const receive = async (send: () => void): Promise<void> => {
    await act(async () => {
      send();
      await Promise.resolve();
    });
  };
  if (entries) await receive(() => service.stream.snapshot(entries));
  else await receive(() => undefined);
  return { service, user, receive };
}

/** Cleans up after a test, and fails it if the page sent a request that the test did not expect. */
export function closeConsole(service: MockService): void {
  cleanup();
  localStorage.clear();
  deleteDraft('vms');
  deleteDraft('cts');
  expect(service.refused).toEqual([]);
}
