import type { ContainerView } from '@headgate/api-contracts';
import { act, screen } from '@testing-library/react';
import { buildCapabilities, buildContext } from './testing/build-capabilities.js';
import { buildVm } from './testing/build-vm.js';
import type { MockService } from './testing/mock-service.js';
import { bracketTexts, showTextsAsTheyAre, unbracketed } from './testing/pseudo-locale.js';
import { closeConsole, givenService, openConsole } from './testing/render-console.js';

let service: MockService;
beforeAll(bracketTexts);
afterAll(showTextsAsTheyAre);
beforeEach(() => {
  service = givenService();
  service.on('GET /api/capabilities', buildCapabilities([buildContext({})]));
  service.usually(/^GET /, { error: 'refused by the mock', code: 'INTERNAL' }, 500);
});
afterEach(() => closeConsole(service));

/** Names, answers of the service, units, and terms that are the same in all languages. */
const DATA = new RegExp(
  [
    /Headgate|Ada|ada@example\.org|prod|prod \(KubeVirt\)|tailvm|web-1|node-\d/,
    /There is no screen\.|The bootc plugin is not installed\.|INTERNAL|refused by the mock/,
    /English|Deutsch|EN|XL|(, )?debian:12|bootc|curl|YAML|Terraform|ISO|IP|URL|NICs/,
    /[\d.,]+ ?(GiB|MiB|TiB|Gi|CPUs?|s|min|%)?|GiB|MiB|TiB|CPUs?|VMs?|\d+ CPUs?, \d+ GiB/,
    // Examples in boxes
    /fast|monday|eth\d|pci_\S+|snapshot|vm\/\S+|https:\/\/\S*|sha256:…|registry\.example\.org\/\S+|ssh-ed25519 .*/,
  ]
    .map(({ source }) => `^(${source})$`)
    .join('|'),
);

const vm = buildVm();
const container: ContainerView = {
  name: 'web-1',
  namespace: 'tailvm',
  node: 'node-1',
  phase: 'Running',
  ready: true,
  image: 'debian:12',
  cpu: 1,
  mem: '2Gi',
  privileged: false,
  ref: 'ct/prod/tailvm/web-1',
  context: 'prod',
  backend: 'kubevirt',
  tags: [],
};

test.each([
  '/vms',
  '/vms/create',
  '/containers',
  '/containers/create',
  '/folders',
  '/nodes',
  '/storage',
  '/networks',
  '/images',
  '/plugins',
  '/activity',
  '/doctor',
  '/journal',
  '/integrations',
  '/settings',
  ...['overview', 'guest', 'hardware', 'snapshots', 'events'].map((tab) => `/vms/prod/tailvm/web-1/${tab}`),
])('every text of %s is from the catalog', async (path) => {
  await openConsole(path, [vm], service);
  await screen.findAllByRole('heading', { level: 1 });
  const texts = unbracketed(document.body);
  expect(document.body.textContent).toContain('⟦');
  expect(texts.filter((text) => !DATA.test(text))).toEqual([]);
});

test.each(['', '/logs', '/snapshots', '/events', '/manifest'])(
  'every text of the page of a container is from the catalog at %j',
  async (tab) => {
    const containerAbilities = { containerLogs: true, snapshots: true, cloning: true, events: true } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ containerAbilities })]));
    await openConsole(`/containers/prod/tailvm/web-1${tab}`, [], service);
    await act(async () => void service.listInStream('cts').snapshot([container]));
    await screen.findByRole('tablist');
    expect(unbracketed(document.body).filter((text) => !DATA.test(text))).toEqual([]);
  },
);

test('a text that bypasses the catalog is found, also next to one that does not', () => {
  document.body.innerHTML = '<p title="raw title">⟦Delete <b>web</b>⟧ raw text <code>npm</code></p>';
  expect(unbracketed(document.body)).toEqual(['raw title', 'raw text']);
  document.body.innerHTML = '';
});
