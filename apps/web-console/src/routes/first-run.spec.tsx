import { screen, within } from '@testing-library/react';
import type { ContainerView } from '@headgate/api-contracts';
import { buildCapabilities, buildContext, buildSingleMachine } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const incus = buildContext({
  context: 'local-containers',
  backend: 'incus',
  label: 'Incus',
  abilities: { provisioning: "VMs can't be created there.", containers: true },
});

let service: MockService;
beforeEach(() => {
  service = givenService();
});
afterEach(() => closeConsole(service));

const card = async (title: string): Promise<HTMLElement> =>
  (await screen.findByRole('heading', { name: title })).closest('li')!;

const buildContainer = (name: string, overrides: Partial<ContainerView> = {}): ContainerView => {
  const { status: _status, disk: _disk, ...fields } = buildVm({ name, context: 'local-containers' });
  const ref = `ct/local-containers/tailvm/${name}`;
  return { ...fields, ref, node: 'here', image: 'tiny', privileged: false, phase: 'Running', ...overrides };
};

async function openWith(contexts: Parameters<typeof buildCapabilities>[0], cts: readonly ContainerView[] = []) {
  service.on('GET /api/capabilities', buildCapabilities(contexts));
  const opened = await openConsole('/vms', undefined, service);
  await opened.receive(() => service.listInStream('cts').snapshot(cts));
  return opened;
}

test('a context that runs containers only offers containers, and no VM', async () => {
  const { user } = await openWith([buildSingleMachine(), incus]);
  const containers = within(await card('Containers'));
  expect(await containers.findByText('local-containers (Incus) responds')).toBeTruthy();
  expect(within(await card('This computer')).getByRole('button', { name: 'Create VM' })).toBeTruthy();
  const others = await card('A cluster or other hosts');
  expect(others.textContent).not.toContain('local-containers');
  expect(others.textContent).toContain('Start Headgate with');
  await user.click(containers.getByRole('button', { name: 'Create container' }));
  expect(location.hash).toContain('/containers/create');
});

test('without a context that runs VMs, no button creates one', async () => {
  await openWith([incus]);
  await screen.findByText('local-containers (Incus) responds');
  const page = screen.getByRole('heading', { name: 'No virtual machines yet' }).parentElement!;
  expect(within(page).queryByRole('button', { name: 'Create VM' })).toBeNull();
  expect(within(page).getByRole('button', { name: 'Create container' })).toBeTruthy();
});

test('the containers of a fleet without VMs are shown with their states, five at most', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const cts = names.map((name) => buildContainer(name, name === 'b' ? { phase: 'Stopped' } : {}));
  await openWith([buildSingleMachine(), incus], cts);
  const containers = within(await card('Containers'));
  expect(containers.getAllByRole('link').map(({ textContent }) => textContent)).toEqual([
    ...names.slice(0, 5),
    '2 more',
  ]);
  expect(containers.getAllByText('Running')).toHaveLength(4);
  expect(containers.getByText('Stopped')).toBeTruthy();
  expect(containers.getByRole('link', { name: 'a' }).getAttribute('href')).toContain(
    '/containers/local-containers/tailvm/a',
  );
});

test('a fleet that can have VMs everywhere has no card for containers', async () => {
  await openWith([buildSingleMachine()]);
  await card('This computer');
  expect(screen.queryByRole('heading', { name: 'Containers' })).toBeNull();
});
