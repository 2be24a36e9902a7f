/** XML of node devices as libvirt 9.0 prints it, for hosts that the tests do not have. */

export interface PciDevice {
  /** Such as `03:00.0`. */
  readonly address: string;
  /** Default: that of a graphics card. */
  readonly classCode?: string;
  readonly driver?: string;
  readonly iommuGroup?: number;
  readonly parent?: string;
}

const pciName = (address: string): string => `pci_0000_${address.replace(/[:.]/g, '_')}`;
const part = (address: string, index: number): number => parseInt(address.split(/[:.]/)[index] ?? '0', 16);

export const pciDevice = ({
  address,
  classCode = '0x030000',
  driver,
  iommuGroup,
  parent = 'computer',
}: PciDevice): string => `<device>
  <name>${pciName(address)}</name>
  <path>/sys/devices/pci0000:00/0000:${address}</path>
  <parent>${parent}</parent>
  ${driver === undefined ? '' : `<driver><name>${driver}</name></driver>`}
  <capability type='pci'>
    <class>${classCode}</class>
    <domain>0</domain>
    <bus>${part(address, 0)}</bus>
    <slot>${part(address, 1)}</slot>
    <function>${part(address, 2)}</function>
    <product id='0x1eb8'>TU104GL [Tesla T4]</product>
    <vendor id='0x10de'>NVIDIA Corporation</vendor>
    ${iommuGroup === undefined ? '' : `<iommuGroup number='${iommuGroup}'><address domain='0x0000' bus='0x00' slot='0x00' function='0x0'/></iommuGroup>`}
  </capability>
</device>`;

export const diskOf = (parent: string, block: string): string => `<device>
  <name>block_${block}</name>
  <parent>${parent}</parent>
  <capability type='storage'><block>/dev/${block}</block><drive_type>disk</drive_type></capability>
</device>`;

export const interfaceOf = (parent: string, name: string, state: 'up' | 'down' | 'unknown'): string => `<device>
  <name>net_${name}_52_54_00_00_00_01</name>
  <parent>${parent}</parent>
  <capability type='net'><interface>${name}</interface><address>52:54:00:00:00:01</address><link state='${state}'/></capability>
</device>`;

/** A child without a use of its own, such as a SCSI host. */
export const childOf = (parent: string, name: string): string =>
  `<device><name>${name}</name><parent>${parent}</parent><capability type='scsi_host'><host>0</host></capability></device>`;

export const usbDevice = (name: string, bus: number, device: number, id = '0x0951:0x1666'): string => {
  const [vendor, product] = id.split(':');
  return `<device>
  <name>${name}</name>
  <parent>usb_usb1</parent>
  <driver><name>usb</name></driver>
  <capability type='usb_device'><bus>${bus}</bus><device>${device}</device>
    <product id='${product}'>DataTraveler</product><vendor id='${vendor}'>Kingston</vendor></capability>
</device>`;
};

export const usbInterface = (parent: string, classCode: number): string =>
  `<device><name>${parent}_1_0</name><parent>${parent}</parent><capability type='usb'><number>0</number><class>${classCode}</class></capability></device>`;

export const mediatedDevice = (uuid: string, iommuGroup: number): string =>
  `<device><name>mdev_${uuid.replaceAll('-', '_')}_0000_03_00_0</name><parent>pci_0000_03_00_0</parent><driver><name>vfio_mdev</name></driver><capability type='mdev'><type id='nvidia-11'/><uuid>${uuid}</uuid><iommuGroup number='${iommuGroup}'/></capability></device>`;
