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
  service.on('POST /api/ext/schedules/preview', { times: ['2026-01-02T01:30:00.000Z'] });
  service.usually(/^GET /, { error: 'refused by the mock', code: 'INTERNAL' }, 500);
});
afterEach(() => closeConsole(service));

/** Sentences of the mocked service, units, and names and terms that are the same in all languages. */
const SAME_EVERYWHERE = new RegExp(
  [
    /There is no screen\.|The bootc plugin is not installed\.|refused by the mock/,
    /Headgate|English|Deutsch|EN|bootc|curl|ntfy|YAML|Terraform|Kubeconfig|ISO|IP|URL|NICs|CPUs?|VMs?/,
    /[\d.,]+ ?([KMGT]?i?B?|CPUs?|s|min|%)|[KMGT]iB/,
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
  '/backups',
  '/schedules',
  '/approvals',
  '/messages',
  '/access',
  '/integrations',
  '/settings',
  ...['overview', 'guest', 'hardware', 'snapshots', 'events'].map((tab) => `/vms/prod/tailvm/web-1/${tab}`),
])('every text of %s is from the catalog', async (path) => {
  await openConsole(path, [vm], service);
  await screen.findAllByRole('heading', { level: 1 });
  const texts = unbracketed(document.body);
  expect(document.body.textContent).toContain('⟦');
  expect(texts.filter((text) => !SAME_EVERYWHERE.test(text))).toEqual([]);
});

test.each(['', '/logs', '/snapshots', '/events', '/manifest'])(
  'every text of the page of a container is from the catalog at %j',
  async (tab) => {
    const containerAbilities = { containerLogs: true, snapshots: true, cloning: true, events: true } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ containerAbilities })]));
    await openConsole(`/containers/prod/tailvm/web-1${tab}`, [], service);
    await act(async () => void service.listInStream('cts').snapshot([container]));
    await screen.findByRole('tablist');
    expect(unbracketed(document.body).filter((text) => !SAME_EVERYWHERE.test(text))).toEqual([]);
  },
);

test.each([
  ['<p title="raw title">⟦Delete <b>web</b>⟧ raw text <code>npm</code></p>', ['raw title', 'raw text']],
  ['<header><i>⟦</i></header><p>raw text</p>', ['open bracket: ⟦', 'raw text']],
  ['<p title="⟦Del">raw text</p>', ['open bracket in title: ⟦Del', 'raw text']],
  ['<p translate="no" title="web-1">web-1 <b translate="yes">raw text</b></p>', ['raw text']],
  ['<p translate="no">⟦Delete⟧ web-1</p>', ['marked as data: ⟦Delete⟧ web-1']],
  ['<p lang="en">The node is full.</p><p lang="de">raw text</p>', ['raw text']],
  ['<input placeholder="prod/web"><input placeholder="raw text">', ['raw text']],
])('a text that bypasses the catalog is found in %s', (html, texts) => {
  document.body.innerHTML = html;
  expect(unbracketed(document.body)).toEqual(texts);
  document.body.innerHTML = '';
});
