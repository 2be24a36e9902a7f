import { DomainError, type CatalogEntry, type DiskBuilder } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { ConfiguredCatalog } from '@headgate/images';
import { FixedClock, MemoryBackend } from '@headgate/testing';
import { Backends } from '../fleet/backends.js';
import { ReadCapabilities } from './read-capabilities.js';

const catalog = (...images: CatalogEntry[]) => new ConfiguredCatalog({ tiny: false, catalog: [], images });

describe('ReadCapabilities', () => {
  let canBuild: true | string = true;
  const disks = { availability: async () => canBuild } as DiskBuilder;
  const [lab, prod] = [new MemoryBackend('lab'), new MemoryBackend('prod')];
  let fleet: Fleet;
  let capabilities: ReadCapabilities;

  beforeEach(() => {
    fleet = new Fleet({ clock: new FixedClock(0), present: ({ instance }) => instance });
    capabilities = new ReadCapabilities(new Backends([lab, prod]), fleet, catalog(), disks, { simulated: new Set() });
    fleet.attach(lab);
    fleet.attach(prod);
  });
  afterEach(() => fleet.close());

  test('wait until each context was listed or lost', async () => {
    const late = new MemoryBackend('late');
    fleet.attach(late);
    expect(fleet.states().map(({ state }) => state)).toContain('connecting');
    await capabilities.read();
    expect(fleet.states().map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  });

  test('promise VMs from bootc images only where a disk can be built', async () => {
    canBuild = 'podman is not installed.';
    const refused = await capabilities.read();
    expect(refused.bootc).toBe(false);
    expect(refused.contexts.map(({ sources }) => sources['bootc'])).toEqual([canBuild, canBuild]);
    lab.require('provisioning').sources = () => ({ ...prod.require('provisioning').sources(), bootc: 'Not on lab.' });
    canBuild = true;
    const promised = await capabilities.read();
    expect(promised.bootc).toBe(true);
    expect(promised.contexts.map(({ sources }) => sources['bootc'])).toEqual(['Not on lab.', true]);
  });

  test('name every reason when no context can be reached', async () => {
    await fleet.whenSynced();
    for (const backend of [lab, prod])
      backend.engine.disconnect(new DomainError('BACKEND_UNREACHABLE', `${backend.context} does not answer.`));
    await expect(capabilities.read()).rejects.toThrow('lab: lab does not answer. prod: prod does not answer.');
  });

  const image = { name: 'own', description: '', defaultUser: '', containerDisk: 'registry.example.org/own:1' };
  test.each<[title: string, images: CatalogEntry[], isPromised: boolean]>([
    ['no image', [], false],
    ['an image that the context can use', [image], true],
    [
      'only an image that the context would have to import',
      [{ ...image, containerDisk: 'https://example.org/a' }],
      false,
    ],
    [
      'only an installer, which the context would have to import',
      [{ ...image, containerDisk: '', download: { kind: 'iso', url: 'https://example.org/a.iso' } }],
      false,
    ],
    ['only an image that is built on another machine', [{ ...image, builtLocally: 'tiny' }], false],
  ])('promise images of the catalog only if it has some: %s', async (_title, images, isPromised) => {
    const reason = 'There is no CDI.';
    const cluster = new MemoryBackend('cluster');
    Object.assign(cluster, { traits: { ...cluster.traits, imageKinds: ['containerDisk', 'url', 'iso'] } });
    const provisioning = cluster.require('provisioning');
    provisioning.sources = () => ({
      containerDisk: true,
      image: true,
      pvc: true,
      import: reason,
      iso: reason,
      bootc: reason,
    });
    fleet.attach(cluster);
    capabilities = new ReadCapabilities(new Backends([cluster]), fleet, catalog(...images), disks, {
      simulated: new Set(),
    });
    const [context] = (await capabilities.read()).contexts;
    expect(context?.sources.image).toEqual(isPromised ? true : expect.stringContaining('no image for this context'));
    expect(context?.sources).toMatchObject({ containerDisk: true, import: reason });
  });
});
