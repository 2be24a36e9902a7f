import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { toVirtualMachine } from '../inventory/to-virtual-machine.js';
import { DomainFinder } from './domain-finder.js';
import { DomainReader } from './domain-reader.js';

const OTHER = '6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11';

describe('DomainReader', () => {
  const read = async (libvirt: FakeLibvirt) => {
    const connection = libvirt.connection();
    const finder = new DomainFinder('local', connection);
    const snapshots = await new DomainReader(connection).read(await finder.all());
    return snapshots.map((snapshot) =>
      toVirtualMachine(snapshot, { ref: finder.refOf(snapshot.description), host: 'host-1', canMigrate: false }),
    );
  };
  const withMetadata = (content: string) => ownDomainXml().replace('</metadata>', `${content}</metadata>`);
  const deeplyNested = `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`;

  test.each([
    ['a reserved name', '<__proto__><polluted>yes</polluted></__proto__>'],
    ['deep nesting', `<x:a xmlns:x="https://example.org">${deeplyNested}</x:a>`],
  ])(
    'lists a domain with %s in its metadata with the reason, and the other domains as usual',
    async (_title, content) => {
      const libvirt = new FakeLibvirt();
      libvirt.add(ownDomainXml(), 'running (booted)');
      libvirt.domains.get(UUID)!.xml = withMetadata(content);
      libvirt.add(ownDomainXml({ uuid: OTHER, name: 'other' }));
      const [unusual, other] = await read(libvirt);
      expect(unusual).toMatchObject({ status: 'Running', cpu: 2, memoryBytes: 512 * 1024 ** 2 });
      expect(unusual?.reason).toContain("metadata can't be read");
      expect(other).toMatchObject({ status: 'Stopped', uid: OTHER });
      expect(other).not.toHaveProperty('reason');
      expect({}).not.toHaveProperty('polluted');
    },
  );

  test('parses the XML of a domain again only if it has changed', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.add(ownDomainXml());
    const connection = libvirt.connection();
    const finder = new DomainFinder('local', connection);
    const reader = new DomainReader(connection);
    const readOnce = async () => (await reader.read(await finder.all()))[0]?.description;
    const first = await readOnce();
    expect(await readOnce()).toBe(first);
    libvirt.domains.get(UUID)!.xml = ownDomainXml({ cpu: 7 });
    expect(await readOnce()).toMatchObject({ cpu: 7 });
    reader.forget(UUID);
    expect(await readOnce()).toMatchObject({ cpu: 7 });
  });

  test("lists a domain whose XML can't be read at all", async () => {
    const libvirt = new FakeLibvirt();
    libvirt.add(ownDomainXml());
    libvirt.domains.get(UUID)!.xml = `<domain>${deeplyNested}</domain>`;
    expect(await read(libvirt)).toMatchObject([{ uid: UUID, reason: expect.stringContaining("XML can't be read") }]);
  });
});
