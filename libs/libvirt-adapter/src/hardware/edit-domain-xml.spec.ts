import { describeDomain } from '../domain-xml/domain-description.js';
import { hasMemoryDevices, numaCellsOf, withBootOrder, withSize } from './edit-domain-xml.js';
import { freePciePorts, freePlaces } from './pcie-ports.js';

/** What libvirt 9.0 prints for a domain of this service, shortened. */
const XML = `<domain type='kvm'>
  <name>web</name>
  <uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid>
  <description>memory unit='KiB'&gt;1&lt;, a note that looks like an element</description>
  <maxMemory slots='16' unit='KiB'>4194304</maxMemory>
  <memory unit='KiB'>1048576</memory>
  <currentMemory unit='KiB'>1048576</currentMemory>
  <vcpu placement='static' current='2'>8</vcpu>
  <vcpus>
    <vcpu id='0' enabled='yes' hotpluggable='no' order='1'/>
    <vcpu id='1' enabled='yes' hotpluggable='yes' order='2'/>
  </vcpus>
  <os>
    <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
    <boot dev='hd'/>
  </os>
  <cpu mode='host-passthrough' check='none' migratable='on'>
    <topology sockets='1' dies='1' cores='8' threads='1'/>
    <numa>
      <cell id='0' cpus='0-7' memory='1048576' unit='KiB'/>
    </numa>
  </cpu>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/images/web.qcow2'/>
      <target dev='vda' bus='virtio'/>
      <boot order='1'/>
    </disk>
    <disk type='file' device='cdrom'>
      <target dev='sda' bus='sata'/>
      <readonly/>
    </disk>
    <interface type='network'>
      <mac address='52:54:00:00:00:01'/>
      <source network='lan'/>
    </interface>
  </devices>
  <qemu:commandline xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
    <qemu:arg value='-foo'/>
  </qemu:commandline>
</domain>
`;
const MIB = 1024 ** 2;

describe('another size in domain XML', () => {
  test('changes nothing else', () => {
    const same = withSize(XML, { cpu: 2, maxCpu: 8, memoryBytes: 1024 * MIB, maxMemoryBytes: 4096 * MIB });
    expect(same).toBe(XML.replace(/ {2}<vcpus>[\s\S]*<\/vcpus>\n/, ''));
  });

  test('is that of the memory, its NUMA node and the number of CPUs', () => {
    const changed = withSize(XML, { cpu: 3, maxCpu: 8, memoryBytes: 2048 * MIB, maxMemoryBytes: 4096 * MIB });
    expect(describeDomain(changed)).toMatchObject({ cpu: 3, memoryBytes: 2048 * MIB });
    expect(changed).toContain("<cell id='0' cpus='0-7' memory='2097152' unit='KiB'/>");
    expect(changed).toContain("<topology sockets='1' dies='1' cores='8' threads='1'/>");
    expect(changed).toContain("memory unit='KiB'&gt;1&lt;, a note that looks like an element");
  });

  test('raises the maximum together with the topology', () => {
    const changed = withSize(XML, { cpu: 16, maxCpu: 16, memoryBytes: 8192 * MIB, maxMemoryBytes: 16_384 * MIB });
    expect(changed).toContain("<vcpu placement='static'>16</vcpu>");
    expect(changed).toContain("<topology sockets='1' dies='1' cores='16' threads='1'/>");
    expect(changed).toContain("cpus='0-15'");
    expect(changed).toContain("<maxMemory slots='16' unit='KiB'>16777216</maxMemory>");
  });

  test('is not for domains with several NUMA nodes or with memory modules, which are recognized', () => {
    expect([numaCellsOf(XML), hasMemoryDevices(XML)]).toEqual([1, false]);
    expect(hasMemoryDevices(XML.replace('  <devices>\n', "  <devices>\n    <memory model='dimm'>\n"))).toBe(true);
  });
});

test('the boot order replaces every earlier one', () => {
  const changed = withBootOrder(XML, (device) =>
    device.includes('<mac ') ? 1 : device.includes("dev='sda'") ? 2 : undefined,
  );
  expect(changed).not.toContain("<boot dev='hd'/>");
  expect(changed.match(/<boot order='\d'\/>/g)).toEqual(["<boot order='2'/>", "<boot order='1'/>"]);
  expect(describeDomain(changed).disks.map(({ bootOrder }) => bootOrder)).toEqual([undefined, 2]);
  expect(withBootOrder(changed, (device) => (device.includes("dev='vda'") ? 1 : undefined))).toBe(
    XML.replace("    <boot dev='hd'/>\n", ''),
  );
});

describe('free PCIe ports', () => {
  const describedDocument = (devices: string) =>
    describeDomain(`<domain><uuid>x</uuid><devices>${devices}</devices></domain>`).document;
  const port = (index: number): string =>
    `<controller type='pci' index='${index}' model='pcie-root-port'><address type='pci' bus='0x00' slot='0x0${index}'/></controller>`;
  const root = "<controller type='pci' index='0' model='pcie-root'/>";

  test('are those without a device', () => {
    const disk = "<disk><address type='pci' domain='0x0000' bus='0x02' slot='0x00' function='0x0'/></disk>";
    expect(freePciePorts(describedDocument(`${root}${port(1)}${port(2)}${port(3)}${disk}`))).toBe(2);
    expect(freePciePorts(describedDocument(`${root}${port(1)}<disk><address type='pci' bus='0x01'/></disk>`))).toBe(0);
  });

  test('do not exist on a machine with a PCI bus', () => {
    expect(freePciePorts(describedDocument("<controller type='pci' index='0' model='pci-root'/>"))).toBeUndefined();
  });

  test('are slots on a machine with a PCI bus, unless a bridge adds more', () => {
    const bus = "<controller type='pci' index='0' model='pci-root'/>";
    const nic = "<interface><address type='pci' bus='0x00' slot='0x03'/></interface>";
    expect(freePlaces(describedDocument(`${bus}${nic}`))).toBe(30);
    expect(
      freePlaces(describedDocument(`${bus}${nic}<controller type='pci' index='1' model='pci-bridge'/>`)),
    ).toBeUndefined();
  });
});
