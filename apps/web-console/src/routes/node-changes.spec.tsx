import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities } from '../testing/build-capabilities.js';
import { buildNode } from '../testing/build-node.js';
import { buildTask } from '../testing/build-task.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const DRAIN = 'POST /api/ext/nodes/node-1/drain';
const member = (name: string, more: object = {}) => ({
  ref: `vm/prod/tailvm/${name}`,
  ok: true,
  way: 'migrate',
  nodes: ['node-2'],
  steps: [{ name: 'migrate', detail: `Migrate ${name} to node-2, while its guest runs.` }],
  warnings: [],
  refusals: [],
  unchecked: [],
  ...more,
});
const refusal = { code: 'WRONG_STATE', reason: 'lab-gpu can not be migrated.', remedy: 'Shut the VM down.' };
const MEMBERS = [
  member('web-1', { seconds: { low: 4, high: 9, measured: 5 } }),
  member('box', {
    ref: 'ct/prod/tailvm/box',
    way: 'restart',
    warnings: ['Files of box outside of /data are lost.'],
    unchecked: ['whether the storage releases box-ct-data'],
  }),
  member('lab-gpu', { ok: false, steps: [], refusals: [refusal] }),
];
const plan = (isSkipping: boolean) => ({
  ok: isSkipping,
  steps: isSkipping ? [{ name: 'cordon', detail: 'node-1 takes no new instances.' }] : [],
  warnings: isSkipping ? ['1 instance stays on node-1.'] : [],
  refusals: isSkipping ? [] : [refusal],
  members: MEMBERS,
  others: 0,
  unchecked: ['Other pods use memory of the nodes too.'],
});

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/ext/nodes', [buildNode(), buildNode({ name: 'node-2' })]);
  service.on('GET /api/nodes', []);
});
afterEach(() => closeConsole(service));

const open = async () => {
  const console = await openConsole('/nodes?peek=prod%2Fnode-1', [buildVm()], service);
  await screen.findByRole('button', { name: 'Drain node-1' });
  return console;
};
const panel = async () => within(await screen.findByRole(...PANEL));

test('drains a node after its plan has said which instances leave, which are interrupted and which stay', async () => {
  service.on(DRAIN, ({ query, body }: MockRequest) => ({
    body:
      query.get('dryRun') === 'true'
        ? plan((body as { skipRefused?: boolean }).skipRefused === true)
        : { task: 'bulk-drain-1', plan: plan(true) },
  }));
  service.on('GET /api/tasks/bulk-drain-1', buildTask({ id: 'bulk-drain-1', kind: 'bulk', ref: '' }));
  const { user } = await open();
  await user.click(screen.getByRole('button', { name: 'Drain node-1' }));
  const shown = await panel();
  const stay = await shown.findByRole('list', { name: "Can't leave" });
  expect(stay.textContent).toBe('tailvm/lab-gpu: lab-gpu can not be migrated. Shut the VM down.');
  expect(shown.getByRole('list', { name: 'Keeps running' }).textContent).toBe(
    'tailvm/web-1: takes 4 to 9 s, measured 5 times.',
  );
  expect(shown.getByRole('list', { name: 'Interrupted' }).textContent).toBe(
    'tailvm/box: no restart has been measured yet. Files of box outside of /data are lost.',
  );
  expect(shown.getByRole<HTMLButtonElement>('button', { name: 'Drain node-1' }).disabled).toBe(true);
  expect(service.asked(DRAIN).every(({ query }) => query.get('dryRun') === 'true')).toBe(true);

  await user.click(shown.getByRole('switch', { name: 'Leave instances that are refused on the node' }));
  await user.click(shown.getByRole('switch', { name: 'Stop after the first failure' }));
  await user.selectOptions(shown.getByRole('combobox', { name: 'At the same time' }), '1');
  await shown.findByText('1 instance stays on node-1.');
  const run = (): HTMLButtonElement => shown.getByRole('button', { name: 'Drain node-1' });
  await waitFor(() => expect(run().disabled).toBe(false));
  await user.click(run());
  await waitFor(() =>
    expect((service.asked(DRAIN) as MockRequest[]).filter(({ query }) => !query.has('dryRun'))).toMatchObject([
      { body: { atOnce: 1, stopOnError: true, skipRefused: true } },
    ]),
  );
  await waitFor(() => expect(service.asked('GET /api/ext/nodes').length).toBeGreaterThan(1));
});

test('cordons a node, and offers to uncordon one that is cordoned, whatever its state', async () => {
  service.on('GET /api/ext/nodes', [buildNode({ ready: false, schedulable: false, cordoned: true })]);
  service.on('POST /api/ext/nodes/node-1/uncordon', ({ query }: MockRequest) => ({
    body:
      query.get('dryRun') === 'true'
        ? { steps: [{ name: 'uncordon', detail: 'node-1 takes new instances again.' }], warnings: [], refusals: [] }
        : { changed: true },
  }));
  const { user } = await open();
  expect(screen.queryByRole('button', { name: 'Cordon node-1' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Uncordon node-1' }));
  const shown = await panel();
  await shown.findByText('node-1 takes new instances again.');
  await user.click(shown.getByRole('button', { name: 'Uncordon node-1' }));
  expect(await screen.findByText(/node-1 takes new instances$/)).toBeTruthy();
});

test.each([
  ['a reader', { admin: false, enforced: true }, undefined, 'Only administrators can cordon and drain nodes.'],
  ['a context that can not', {}, 'A libvirt context is a single host.', 'A libvirt context is a single host.'],
])('is off for %s, with the reason', async (_who, whoami, lacks, reason) => {
  service.on('GET /api/whoami', { login: 'eve', name: '', admin: true, enforced: true, ...whoami });
  if (lacks) {
    const capabilities = buildCapabilities();
    const contexts = capabilities.contexts.map((one) => ({
      ...one,
      abilities: { ...one.abilities, nodeScheduling: lacks },
    }));
    service.on('GET /api/capabilities', { ...capabilities, contexts });
  }
  const { user } = await open();
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Drain node-1' }).getAttribute('aria-disabled')).toBe('true'),
  );
  expect(screen.getAllByRole('tooltip', { hidden: true }).map(({ textContent }) => textContent)).toContain(reason);
  await user.click(screen.getByRole('button', { name: 'Drain node-1' }));
  expect(service.asked(DRAIN)).toEqual([]);
});
