import { screen } from '@testing-library/react';
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
    /English|Deutsch|EN|XL|bootc|curl|YAML|Terraform|ISO|IP|URL|NICs/,
    /[\d.,]+ ?(GiB|MiB|TiB|Gi|CPUs?|s|min|%)?|GiB|MiB|TiB|CPUs?|VMs?|\d+ CPUs?, \d+ GiB/,
    // Examples in boxes
    /fast|monday|eth\d|pci_\S+|snapshot|vm\/\S+|https:\/\/\S*|sha256:…|registry\.example\.org\/\S+|ssh-ed25519 .*/,
  ]
    .map(({ source }) => `^(${source})$`)
    .join('|'),
);

const vm = buildVm();

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
  ...['overview', 'guest', 'hardware', 'snapshots', 'events'].map((tab) => `/vms/prod/tailvm/web-1/${tab}`),
])('every text of %s is from the catalog', async (path) => {
  await openConsole(path, [vm], service);
  await screen.findAllByRole('heading', { level: 1 });
  const texts = unbracketed(document.body);
  expect(document.body.textContent).toContain('⟦');
  expect(texts.filter((text) => !DATA.test(text))).toEqual([]);
});

test('a text that bypasses the catalog is found, also next to one that does not', () => {
  document.body.innerHTML = '<p title="raw title">⟦Delete <b>web</b>⟧ raw text <code>npm</code></p>';
  expect(unbracketed(document.body)).toEqual(['raw title', 'raw text']);
  document.body.innerHTML = '';
});
