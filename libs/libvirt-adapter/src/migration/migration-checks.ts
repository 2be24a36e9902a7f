import { DomainError, formatBytes, type Refusal } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import type { MigrationHost } from './migration-host.js';

const refuse = (code: Refusal['code'], reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** Devices of the machine itself, which no other machine has. */
export function deviceRefusals({ name, document }: DomainDescription): Refusal[] {
  const devices = element(document, 'devices');
  const bound = [
    ...elements(devices, 'hostdev').map(() => 'a device of this machine (hostdev)'),
    ...elements(devices, 'interface')
      .filter((nic) => ['hostdev', 'vdpa'].includes(attribute(nic, 'type') ?? ''))
      .map(() => 'a network card of this machine'),
    ...elements(devices, 'filesystem').map(() => 'a folder of this machine'),
    ...elements(devices, 'tpm')
      .filter((tpm) => attribute(element(tpm, 'backend'), 'type') === 'passthrough')
      .map(() => 'the TPM of this machine'),
    ...elements(devices, 'disk')
      .filter((disk) => attribute(disk, 'device') === 'lun')
      .map(() => 'a SCSI device of this machine'),
  ];
  return [...new Set(bound)].map((device) =>
    refuse(
      'WRONG_STATE',
      `${name} uses ${device}, which can't be migrated.`,
      'Detach it first, or stop the VM and move it.',
    ),
  );
}

/** Networks that the destination does not have. */
export async function networkRefusals(
  { name, nics }: DomainDescription,
  { context, connection }: MigrationHost,
): Promise<Refusal[]> {
  const needed = new Set(nics.filter(({ type }) => type === 'network').map(({ source }) => source));
  if (needed.size === 0) return [];
  const active = await connection.networks.list('active');
  return [...needed]
    .filter((network) => !active.includes(network))
    .map((network) =>
      refuse(
        'WRONG_STATE',
        `${name} has a card in the network ${network}, which is not active on ${context}.`,
        `Start a network of that name on ${context}, or move the card to another network.`,
      ),
    );
}

/** Cards whose bridge or interface only the destination itself can check. */
export const networkWarnings = ({ nics }: DomainDescription, { context }: MigrationHost): string[] =>
  nics
    .filter(({ type }) => type === 'bridge' || type === 'direct')
    .map(({ source }) => `${context} needs the interface ${source} for a card of the VM.`);

/** The processor, the machine type and the size of the guest. */
export async function hypervisorRefusals(
  { name, type, arch, document, memoryBytes }: DomainDescription,
  source: MigrationHost,
  { context, connection }: MigrationHost,
): Promise<Refusal[]> {
  const machine = attribute(element(element(document, 'os'), 'type'), 'machine') ?? '';
  const virtType = type === 'kvm' ? 'kvm' : 'qemu';
  let capabilities: XmlElement | undefined;
  try {
    capabilities = element(
      parseXml(await connection.host.domainCapabilities({ virtType, arch, machine })),
      'domainCapabilities',
    );
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'BACKEND_TIMEOUT')) throw error;
    const reason = `${context} can't run ${name}: it has no ${virtType === 'kvm' ? 'KVM' : 'emulator'} for ${arch} machines of the type ${machine}.`;
    return [refuse('WRONG_STATE', reason, 'Choose another node.')];
  }
  const refusals: Refusal[] = [];
  const cpus = Number(text(element(document, 'vcpu')) ?? 1);
  const maxCpus = Number(attribute(element(capabilities, 'vcpu'), 'max') ?? cpus);
  if (cpus > maxCpus)
    refusals.push(
      refuse(
        'WRONG_STATE',
        `${context} runs VMs with up to ${maxCpus} CPUs, and ${name} has ${cpus}.`,
        'Choose another node.',
      ),
    );
  const node = await connection.host.node();
  if (memoryBytes > node.memoryBytes) {
    const reason = `${name} has ${formatBytes(memoryBytes)} of memory, and ${context} has ${formatBytes(node.memoryBytes)}.`;
    refusals.push(refuse('WRONG_STATE', reason, 'Choose another node.'));
  }
  const [here, there] = await Promise.all(
    [source.connection, connection].map(async ({ host }) => hostCpu(await host.capabilities())),
  );
  return [...refusals, ...cpuRefusals(name, document, { context, capabilities, here, there })];
}

interface HostCpu {
  readonly vendor: string;
  readonly model: string;
}

interface CpuDeps {
  readonly context: string;
  readonly capabilities: XmlElement | undefined;
  readonly here: HostCpu | undefined;
  readonly there: HostCpu | undefined;
}

/**
 * A guest that was given a model of a CPU needs that model; one that was given the CPU of its host needs the same CPU.
 */
function cpuRefusals(name: string, document: XmlElement, { context, capabilities, here, there }: CpuDeps): Refusal[] {
  const cpu = element(document, 'cpu');
  const mode = attribute(cpu, 'mode');
  if (mode === 'host-passthrough' || mode === 'maximum') {
    if (document['@type'] === 'qemu' || (here?.vendor === there?.vendor && here?.model === there?.model)) return [];
    const cpuOf = (host: HostCpu | undefined): string => `${host?.vendor ?? 'unknown'} ${host?.model ?? ''}`.trim();
    const reason = `${name} uses the CPU of its host (${cpuOf(here)}), and ${context} has another one (${cpuOf(there)}).`;
    return [refuse('WRONG_STATE', reason, 'Choose a node with the same CPU, or give the VM a model that both have.')];
  }
  const model = text(cpu, 'model');
  const custom = elements(element(capabilities, 'cpu'), 'mode').find((one) => attribute(one, 'name') === 'custom');
  if (model === undefined || custom === undefined) return [];
  const found = elements(custom, 'model').find((one) => text(one) === model);
  if (found && attribute(found, 'usable') !== 'no') return [];
  const reason = `${name} runs with the CPU model ${model}, which ${context} can't provide.`;
  return [refuse('WRONG_STATE', reason, 'Choose another node.')];
}

function hostCpu(capabilities: string): HostCpu | undefined {
  const cpu = element(element(element(parseXml(capabilities), 'capabilities'), 'host'), 'cpu');
  const [vendor, model] = [text(cpu, 'vendor'), text(cpu, 'model')];
  return vendor === undefined && model === undefined ? undefined : { vendor: vendor ?? '', model: model ?? '' };
}

/** The identity of a machine: libvirt refuses to migrate a guest to the machine on which it runs. */
export async function isSameMachine(one: MigrationHost, other: MigrationHost): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map(async ({ connection }) => {
      const host = element(element(parseXml(await connection.host.capabilities()), 'capabilities'), 'host');
      return text(host, 'uuid');
    }),
  );
  return first !== undefined && first === second;
}
