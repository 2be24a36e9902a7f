import type { ContainerView } from '@headgate/api-contracts';
import { actionRefusal } from '../../../shared/actions/registry.js';
import { buildStoppedVm, buildVm } from '../../../testing/build-vm.js';
import type { PaletteOption } from './palette-option.js';
import { MOST_OPTIONS, paletteResults, type PaletteSources } from './palette-results.js';

const container = {
  name: 'web-ct',
  namespace: 'lab',
  context: 'prod',
  phase: 'Running',
  ref: 'ct/prod/lab/web-ct',
  tags: [] as string[],
} as ContainerView;

const option = (key: string, label: string): PaletteOption => ({ key, label, icon: 'next', choose: () => undefined });

function build(overrides: Partial<PaletteSources> = {}) {
  const ran: string[] = [];
  const visited: string[] = [];
  const sources: PaletteSources = {
    vms: [buildVm({ name: 'db-1' }), buildVm({ name: 'web-1' }), buildStoppedVm({ name: 'web-2' })],
    containers: [container],
    pages: [option('/vms', 'Machines'), option('/nodes', 'Nodes')],
    views: [option('view web', 'Failing web')],
    folders: [option('folder prod/web', 'prod/web'), option('folder test', 'test')],
    events: [],
    commands: [option('theme dark', 'Theme: dark')],
    recent: [],
    place: undefined,
    current: undefined,
    refusal: (id, instance) => actionRefusal(id, instance),
    run: ({ id, instance }) => void ran.push(`${id} ${instance.name}`),
    navigate: (path) => void visited.push(path),
    ...overrides,
  };
  const results = (text: string) => paletteResults(text, sources);
  return {
    ran,
    visited,
    results,
    labels: (text: string) =>
      Object.fromEntries(results(text).groups.map(({ title, options }) => [title, options.map(({ label }) => label)])),
    find: (text: string, label: string) => {
      const found = results(text)
        .groups.flatMap(({ options }) => options)
        .find((one) => one.label === label);
      if (!found) throw new Error(`There is no result ${label}.`);
      return found;
    },
  };
}

describe('the palette without a text', () => {
  test('has the latest places that exist, besides the present one, and the other pages', () => {
    const recent = ['/nodes', '/vms/prod/tailvm/web-1', '/vms/prod/tailvm/gone', '/vms', '/containers/prod/lab/web-ct'];
    expect(build({ recent, place: '/nodes' }).labels(' ')).toEqual({
      Recent: ['web-1', 'Machines', 'web-ct'],
      Pages: ['Nodes'],
    });
  });
});

describe('the palette with a text', () => {
  test('finds machines and containers by name, and opens them', () => {
    const { labels, find, visited } = build();
    expect(labels('web')['Machines and containers']).toEqual(['web-1', 'web-2', 'web-ct']);
    expect(labels('web')['Views']).toEqual(['Failing web']);
    find('web', 'web-1').choose();
    find('web', 'web-ct').choose();
    expect(visited).toEqual(['/vms/prod/tailvm/web-1/overview', '/containers/prod/lab/web-ct']);
  });

  test('shows the place of each instance, as several may have one name', () => {
    const vms = ['prod', 'stage'].map((context) => buildVm({ name: 'web-1', context }));
    const { results } = build({ vms, containers: [] });
    const [group] = results('web-1').groups;
    expect(group?.options.map(({ detail }) => detail)).toEqual(['tailvm in prod', 'tailvm in stage']);
    expect(new Set(group?.options.map(({ key }) => key)).size).toBe(2);
  });

  test('finds pages and settings by their words', () => {
    const { labels } = build();
    expect(labels('node')['Pages']).toEqual(['Nodes']);
    expect(labels('dark theme')['Commands']).toEqual(['Theme: dark']);
  });

  test('offers the actions of the menu for a verb and a name, with their reasons', () => {
    const { results, find, ran } = build();
    expect(results('restart web').groups[0]).toMatchObject({
      title: 'Actions',
      options: [
        { label: 'Restart web-1…', reason: undefined },
        { label: 'Restart web-2…', reason: 'Only a running VM can be restarted.' },
      ],
    });
    find('restart web', 'Restart web-1…').choose();
    find('start web-2', 'Start web-2').choose();
    expect(ran).toEqual(['restart web-1', 'start web-2']);
  });

  test('offers an action by its ID, and only where the instance has it', () =>
    expect(build().labels('sto web')['Actions']).toEqual([
      'Shut down web-1…',
      'Shut down web-2…',
      'Stop web-ct…',
      'Force stop web-1…',
      'Force stop web-2…',
    ]));

  test('offers a verb alone for the instance on the page and the latest ones', () => {
    const web = buildVm({ name: 'web-1' });
    const vms = [web, buildVm({ name: 'db-1' })];
    const { labels } = build({ vms, containers: [], current: web, recent: ['/vms/prod/tailvm/db-1'] });
    expect(labels('restart')['Actions']).toEqual(['Restart web-1…', 'Restart db-1…']);
  });

  test('lists names before the actions of a verb that they begin with', () => {
    const vms = [buildVm({ name: 'restarter' })];
    const { results } = build({ vms, current: vms[0] });
    expect(results('restart').groups.map(({ title }) => title)).toEqual([
      'Machines and containers',
      'Actions',
      'Search',
    ]);
  });

  test('counts the machines of a query, and opens the list with it', () => {
    const { results, find, visited } = build();
    expect(results('status:running').groups[0]?.options.map(({ label }) => label)).toEqual([
      'Show 2 machines',
      'Show 1 container',
    ]);
    find('status:running name:web*', 'Show 1 machine').choose();
    expect(visited).toEqual(['/vms?q=status%3Arunning+name%3Aweb*']);
  });

  test('shows the mistake in a query, and none in a name', () => {
    const { results } = build();
    expect(results('mem:abc').problem).toMatch(/^Character \d+: /);
    expect(results('web "').problem).toBeUndefined();
  });

  test('finds folders by a part of their path', () => {
    expect(build().labels('web')['Folders']).toEqual(['prod/web']);
    const folders = Array.from({ length: 40 }, (_none, index) => option(`folder ${index}`, `prod/${index}`));
    const { groups, total } = build({ folders, vms: [], containers: [] }).results('prod');
    expect([groups.find(({ title }) => title === 'Folders')?.options.length, total]).toEqual([12, 40]);
  });

  test('lists past events last, and moves nothing for them', () => {
    const before = build().results('web').groups;
    const events = [option('event 1', 'stop web-1')];
    const { groups } = build({ events }).results('web');
    expect(groups.slice(0, -1)).toMatchObject(before.map(({ title }) => ({ title })));
    expect(groups.at(-1)).toMatchObject({ title: 'Past events', options: [{ label: 'stop web-1' }] });
  });

  test('is limited, has the total, and drops no group', () => {
    const vms = Array.from({ length: 500 }, (_, index) => buildVm({ name: `restart-dark-${index}` }));
    const { groups, total } = build({ vms }).results('dark');
    expect(groups.reduce((sum, { options }) => sum + options.length, 0)).toBe(MOST_OPTIONS);
    expect(groups.map(({ title }) => title)).toEqual(['Machines and containers', 'Commands', 'Search']);
    expect(total).toBe(502);
  });
});
