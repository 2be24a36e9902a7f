import { formatCpuSet, parseCpuSet, type CpuPinning } from '@headgate/domain-contracts';

/**
 * Changes of libvirt's own XML, which has one element per line, indented by two spaces. All other text stays as it is,
 * so that settings that this service does not know survive.
 */

export interface PlacementEdit {
  readonly pinning?: Partial<CpuPinning>;
  readonly hugepageBytes?: number | null;
  /** The CPUs and the memory of the VM, for the NUMA node that remains when its others are removed. */
  readonly whole: { readonly maxCpu: number; readonly memoryBytes: number };
}

/** The domain with another placement. Absent fields stay as they are. */
export const withPlacement = (xml: string, { pinning = {}, hugepageBytes, whole }: PlacementEdit): string =>
  outsideOfMetadata(xml, (domain) => {
    const { vcpus, emulatorCpus, memory, cells } = pinning;
    let edited = domain;
    if (vcpus !== undefined) {
      const pins = vcpus.map(({ vcpu, cpus }) => `    <vcpupin vcpu='${vcpu}' cpuset='${canonical(cpus)}'/>\n`);
      edited = withBlock(edited, 'cputune', (inner) => pins.join('') + inner.replace(/^ {4}<vcpupin .*\/>\n/gm, ''));
    }
    if (emulatorCpus !== undefined) {
      const pin = emulatorCpus === '' ? '' : `    <emulatorpin cpuset='${canonical(emulatorCpus)}'/>\n`;
      edited = withBlock(edited, 'cputune', (inner) => inner.replace(/^ {4}<emulatorpin .*\/>\n/gm, '') + pin);
    }
    if (memory !== undefined) {
      const element = memory ? `    <memory mode='${memory.mode}' nodeset='${canonical(memory.nodes)}'/>\n` : '';
      edited = withBlock(edited, 'numatune', (inner) => element + inner.replace(/^ {4}<memory .*\/>\n/gm, ''));
    }
    if (cells !== undefined) edited = withCells(edited, cells, whole);
    if (hugepageBytes !== undefined) {
      const element =
        hugepageBytes === null
          ? ''
          : `    <hugepages>\n      <page size='${hugepageBytes / 1024}' unit='KiB'/>\n    </hugepages>\n`;
      const present = /^ {4}<hugepages(?:\/>\n|>\n[\s\S]*?^ {4}<\/hugepages>\n)/m;
      edited = withBlock(edited, 'memoryBacking', (inner) => element + inner.replace(present, ''));
    }
    return edited;
  });

const canonical = (cpus: string): string => formatCpuSet(parseCpuSet(cpus, 'cpus'));

/** Any program may put any elements into the metadata, also ones that look like those of libvirt. */
function outsideOfMetadata(xml: string, edit: (domain: string) => string): string {
  const end = '\n  </metadata>\n';
  const at = xml.lastIndexOf(end);
  if (at < 0) return edit(xml);
  const start = at + end.length;
  return xml.slice(0, start) + edit(xml.slice(start));
}

/** Edits the children of an element of the domain, which is created or removed as necessary. */
function withBlock(xml: string, name: string, edit: (inner: string) => string): string {
  const block = new RegExp(`^ {2}<${name}>\\n([\\s\\S]*?)^ {2}</${name}>\\n`, 'm');
  const found = block.exec(xml);
  const inner = edit(found?.[1] ?? '');
  const element = inner === '' ? '' : `  <${name}>\n${inner}  </${name}>\n`;
  return found ? xml.replace(block, () => element) : xml.replace(/^ {2}<os[ >]/m, (os) => element + os);
}

/** Memory can only be added to a VM with a NUMA node, so one that can grow keeps one. */
function withCells(xml: string, cells: CpuPinning['cells'], { maxCpu, memoryBytes }: PlacementEdit['whole']): string {
  const canGrow = /^ {2}<maxMemory /m.test(xml);
  const one = { cpus: formatCpuSet(Array(maxCpu).keys()), memoryBytes };
  const rows = (cells.length === 0 && canGrow ? [one] : cells).map(
    ({ cpus, memoryBytes: bytes }, id) =>
      `      <cell id='${id}' cpus='${canonical(cpus)}' memory='${bytes / 1024}' unit='KiB'/>\n`,
  );
  const numa = rows.length === 0 ? '' : `    <numa>\n${rows.join('')}    </numa>\n`;
  const present = /^ {4}<numa>\n[\s\S]*?^ {4}<\/numa>\n/m;
  if (present.test(xml)) return xml.replace(present, () => numa);
  if (numa === '') return xml;
  if (/^ {2}<\/cpu>\n/m.test(xml)) return xml.replace(/^ {2}<\/cpu>\n/m, (end) => numa + end);
  const single = /^( {2}<cpu\b[^>\n]*)\/>\n/m;
  if (single.test(xml)) return xml.replace(single, (_all, start: string) => `${start}>\n${numa}  </cpu>\n`);
  return xml.replace(/^ {2}<devices>\n/m, (devices) => `  <cpu>\n${numa}  </cpu>\n${devices}`);
}
