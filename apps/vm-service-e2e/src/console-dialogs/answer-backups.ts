import type { Page, Route } from 'playwright-core';
import type { CapabilitiesView, FilePageView, FileSessionView } from '@headgate/api-contracts';
import { LONG_NAME } from './data.js';

/** The abilities that a simulated cluster lacks. */
const ABILITIES = ['backups', 'bootProof', 'diskExport', 'diskFiles', 'diskIngest', 'diskRestore'];
export const POINT_TIME = '2026-01-02T01:30:00.000Z';
const plan = {
  steps: [{ name: 'restore the disks', detail: `All disks of ${LONG_NAME} are written.` }],
  warnings: [`${LONG_NAME} has to be stopped.`],
  refusals: [],
};
const session: FileSessionView = {
  session: '3f1c9a52-6a53-4a5c-9a53-0d8f3a1c9a52',
  idleSeconds: 600,
  volumes: [{ number: 0, disk: 'vda', name: 'vda1', fileSystem: 'ext4', label: LONG_NAME, sizeBytes: 1024 ** 3 }],
};
const folder: FilePageView = {
  total: 3,
  isCut: false,
  entries: [
    { name: LONG_NAME, kind: 'folder', sizeBytes: 0, mode: 0o755, modifiedAt: POINT_TIME },
    { name: `${LONG_NAME}.conf`, kind: 'file', sizeBytes: 2048, mode: 0o644, modifiedAt: POINT_TIME },
    { name: 'link', kind: 'link', sizeBytes: 0, mode: 0o777, target: `/${LONG_NAME}` },
  ],
};

/**
 * Simulates one backup of a VM, plans of its restore, and the files on its disks and on those of stopped VMs: a
 * simulated cluster has no bytes of disks. Everything else comes from the service.
 * @param ref of the VM
 */
export async function answerBackups(page: Page, ref: string): Promise<void> {
  const point = {
    id: 'a'.repeat(64),
    time: POINT_TIME,
    ref,
    uid: 'uid',
    consistency: 'frozen',
    sizeBytes: 8 * 1024 ** 3,
  };
  const answer =
    (json: unknown) =>
    (route: Route): Promise<void> =>
      route.fulfill({ json });
  await page.addInitScript(grantAbilities, ABILITIES);
  await page.route(/\/backups\/targets\/\w+\/points(\?|$)/, answer([point]));
  await page.route(/\/points\/\w+\/[\w-]+\?.*dryRun/, answer(plan));
  await page.route(/\/files(\?|$)/, answer(session));
  await page.route(/\/files\/[\w-]+(\?|$)/, answer({ status: 'closed' }));
  await page.route(/\/files\/[\w-]+\/entries\?/, answer(folder));
}

/** Runs in the page, which gets the abilities of its contexts in its stream of events. */
function grantAbilities(abilities: readonly string[]): void {
  const grant = (data: string): string => {
    const capabilities = JSON.parse(data) as CapabilitiesView;
    for (const context of capabilities.contexts) for (const one of abilities) context.abilities[one] = true;
    return JSON.stringify(capabilities);
  };
  const { addEventListener: add } = EventSource.prototype;
  EventSource.prototype.addEventListener = function (this: EventSource, type: string, listener: EventListener) {
    const receive = (event: Event): void => {
      const { data, lastEventId } = event as MessageEvent<string>;
      const isTheirs = type === 'contexts.snapshot';
      listener(isTheirs ? new MessageEvent(type, { data: grant(data), lastEventId }) : event);
    };
    add.call(this, type, receive);
  } as EventSource['addEventListener'];
}
