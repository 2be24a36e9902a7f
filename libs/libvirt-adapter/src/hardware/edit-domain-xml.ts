/**
 * Changes of libvirt's own XML, which has one element per line, indented by two spaces. All other text stays as it is,
 * so that elements that this service does not know survive.
 */

export interface NewSize {
  readonly cpu: number;
  readonly maxCpu: number;
  readonly memoryBytes: number;
  /** Absent where memory can't grow while the domain runs. */
  readonly maxMemoryBytes?: number;
}

/** The domain with another size. The topology follows the maximum: one socket with a core for each CPU. */
export function withSize(xml: string, { cpu, maxCpu, memoryBytes, maxMemoryBytes }: NewSize): string {
  const kib = String(memoryBytes / 1024);
  const hasOtherMaximum = maxCpuOf(xml) !== maxCpu;
  // Several NUMA nodes divide the CPUs and the memory among themselves, and stay as they are.
  const hasOneCell = numaCellsOf(xml) === 1;
  const cpus = maxCpu === 1 ? '0' : `0-${maxCpu - 1}`;
  return (
    xml
      .replace(/^( {2}<vcpu)([^>]*)>\d+<\/vcpu>/m, (_all, start: string, attributes: string) => {
        const others = attributes.replace(/ current='\d+'/, '');
        return `${start}${others}${cpu === maxCpu ? '' : ` current='${cpu}'`}>${maxCpu}</vcpu>`;
      })
      // Lists the state of each CPU, which the number above replaces.
      .replace(/^ {2}<vcpus>[\s\S]*?^ {2}<\/vcpus>\n/m, '')
      .replace(/^( {2}<memory unit=')KiB'>\d+</m, `$1KiB'>${kib}<`)
      .replace(/^( {2}<currentMemory unit=')KiB'>\d+</m, `$1KiB'>${kib}<`)
      .replace(/^( {2}<maxMemory[^>]*>)\d+</m, (all, start: string) =>
        maxMemoryBytes === undefined ? all : `${start}${maxMemoryBytes / 1024}<`,
      )
      .replace(/^ *<topology [^>]*\/>/m, (all) =>
        hasOtherMaximum
          ? all.replace(/(sockets|dies|threads|clusters)='\d+'/g, "$1='1'").replace(/cores='\d+'/, `cores='${maxCpu}'`)
          : all,
      )
      .replace(/^( *<cell id='0'[^>]*) memory='\d+' unit='KiB'/m, (all, start: string) =>
        hasOneCell ? `${start} memory='${kib}' unit='KiB'` : all,
      )
      .replace(/^( *<cell id='0') cpus='[^']*'/m, (all, start: string) =>
        hasOneCell ? `${start} cpus='${cpus}'` : all,
      )
  );
}

const maxCpuOf = (xml: string): number => Number(/^ {2}<vcpu[^>]*>(\d+)<\/vcpu>/m.exec(xml)?.[1] ?? 1);

/** The number of guest NUMA nodes, among which memory would have to be divided. */
export const numaCellsOf = (xml: string): number => xml.match(/^ {6}<cell /gm)?.length ?? 0;

/** Whether memory modules are plugged in. */
export const hasMemoryDevices = (xml: string): boolean => /^ {4}<memory model=/m.test(xml);

const BOOTABLE = /^ {4}<(disk|interface)[ >][\s\S]*?^ {4}<\/\1>$/gm;

/**
 * The domain that boots from devices in an order.
 * @param orderOf the place of a device, by its element; undefined for none
 */
export const withBootOrder = (xml: string, orderOf: (device: string) => number | undefined): string =>
  xml.replace(/^ {4}<boot dev='[^']*'\/>\n/gm, '').replace(BOOTABLE, (device) => {
    const order = orderOf(device);
    const plain = device.replace(/^ {6}<boot order='[^']*'[^>]*\/>\n/gm, '');
    return order === undefined ? plain : plain.replace(/^( {4}<\/)/m, `      <boot order='${order}'/>\n$1`);
  });
