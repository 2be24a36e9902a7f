import { act, cleanup, render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { VmView } from '@headgate/api-contracts';
import { App } from '../app/app.js';
import { dropDraft } from '../shared/creation/drafts.js';
import { buildCapabilities } from './build-capabilities.js';
import { MockService } from './mock-service.js';

export interface OpenConsole {
  readonly service: MockService;
  readonly user: ReturnType<typeof userEvent.setup>;
  /** Lets the service say something and the page take it in. */
  hears(say: () => void): Promise<void>;
}

/** A service that knows who asks and what its contexts can do, and nothing else. */
export function givenService(): MockService {
  const service = new MockService();
  service.on('GET /api/whoami', { login: 'ada@example.org', name: 'Ada', admin: true, enforced: false });
  service.on('GET /api/capabilities', buildCapabilities());
  service.on('GET /healthz', {});
  service.on('GET /api/tasks', []);
  service.install();
  return service;
}

/** Opens the whole console at a place, with these instances in its fleet. */
export async function openConsole(
  place: string,
  entries?: readonly VmView[],
  service = givenService(),
): Promise<OpenConsole> {
  history.replaceState(null, '', `#${place}`);
  const user = userEvent.setup({ delay: null });
  render(<App />);
  const hears = async (say: () => void): Promise<void> => {
    await act(async () => {
      say();
      await Promise.resolve();
    });
  };
  if (entries) await hears(() => service.streamOf('/api/vms').snapshot(entries));
  else await hears(() => undefined);
  return { service, user, hears };
}

/** After each test: nothing is left of the page, and nothing was asked that the test did not foresee. */
export function closeConsole(service: MockService): void {
  cleanup();
  localStorage.clear();
  dropDraft('vms');
  dropDraft('cts');
  expect(service.refused).toEqual([]);
}
