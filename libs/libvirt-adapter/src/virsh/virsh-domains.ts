import { stat } from 'node:fs/promises';
import { DomainError, formatCpuSet } from '@headgate/domain-contracts';
import {
  DomainOperations,
  type DeviceChange,
  type DomainDocuments,
  type DomainId,
  type DomainReading,
  type DomainStatistics,
  type InspectedDomain,
  type InterfaceAddress,
  type MetadataChange,
  type StatisticFields,
} from '../connection/domain-operations.js';
import type { CallOptions } from '../connection/call-options.js';
import { parseDomainState } from '../connection/domain-state.js';
import type { Virsh } from './virsh.js';

/** Keeps a command line within its length limit. */
const DOMAINS_PER_BATCH = 20;
const SCREENSHOT_TIMEOUT_MS = 20_000;

export class VirshDomains extends DomainOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async list(): Promise<DomainId[]> {
    return parseDomainList(await this.virsh.run(['list', '--all', '--uuid', '--name']));
  }

  /** virsh would take a name of digits for an ID. */
  override async lookUp(name: string): Promise<DomainId | undefined> {
    return (await this.list()).find((domain) => domain.name === name);
  }

  override async read(ids: readonly DomainId[]): Promise<DomainReading[]> {
    const readings: DomainReading[] = [];
    for (let from = 0; from < ids.length; from += DOMAINS_PER_BATCH) {
      const chunk = ids.slice(from, from + DOMAINS_PER_BATCH);
      const outputs = await this.virsh.batch(
        chunk.flatMap(({ uuid }) => [
          ['dumpxml', uuid],
          ['dumpxml', '--inactive', uuid],
          ['domstate', uuid, '--reason'],
          ['domblkinfo', uuid, '--all'],
        ]),
      );
      chunk.forEach((id, i) => {
        const [xml = '', persistentXml = '', state = '', disks = ''] = outputs.slice(4 * i, 4 * i + 4);
        // The domain was removed between the commands.
        if (xml.trim() === '' || state.trim() === '') return;
        readings.push({
          ...toDocuments(id, xml, persistentXml),
          state: parseDomainState(state),
          diskBytes: parseDiskSizes(disks),
        });
      });
    }
    return readings;
  }

  override async documents(ids: readonly DomainId[]): Promise<DomainDocuments[]> {
    const outputs = await this.virsh.batch(
      ids.flatMap(({ uuid }) => [['dumpxml', uuid], ['dumpxml', '--inactive', uuid]]), // prettier-ignore
    );
    return ids
      .map((id, i) => toDocuments(id, outputs[2 * i] ?? '', outputs[2 * i + 1] ?? ''))
      .filter(({ xml }) => xml.trim() !== '');
  }

  override async inspect(uuid: string): Promise<InspectedDomain | undefined> {
    const [xml = '', state = '', info = ''] = await this.virsh.batch([
      ['dumpxml', uuid],
      ['domstate', uuid, '--reason'],
      ['dominfo', uuid],
    ]);
    if (xml.trim() === '') return undefined;
    return { xml, state: parseDomainState(state), isPersistent: /^Persistent:\s+yes$/m.test(info) };
  }

  override xml(uuid: string, { withSecrets }: { readonly withSecrets: boolean }): Promise<string> {
    return this.virsh.run(['dumpxml', uuid, ...(withSecrets ? ['--security-info'] : [])]);
  }

  override persistentXml(uuid: string): Promise<string> {
    return this.virsh.run(['dumpxml', uuid, '--inactive', '--security-info']);
  }

  override async define(xml: string): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['define', file]);
  }

  override async undefine(
    uuid: string,
    { keepsNvram = false, ...options }: CallOptions & { readonly keepsNvram?: boolean } = {},
  ): Promise<void> {
    const nvram = keepsNvram ? '--keep-nvram' : '--nvram';
    const leftovers = ['--managed-save', '--snapshots-metadata', '--checkpoints-metadata', nvram];
    await this.virsh.run(['undefine', uuid, ...leftovers], options);
  }

  override async setMetadata(uuid: string, change: MetadataChange): Promise<void> {
    const { namespace, prefix, xml, inLiveDomain, inPersistentDomain } = change;
    const scope = scopeOf({ inLiveDomain, inPersistentDomain });
    await this.virsh.run(['metadata', uuid, namespace, '--key', prefix, '--set', xml, ...scope]);
  }

  override async autostart(uuid: string): Promise<boolean> {
    return /^Autostart:\s+enable/m.test(await this.virsh.run(['dominfo', uuid]));
  }

  override async setCpus(uuid: string, count: number, scope: Omit<DeviceChange, 'xml'>): Promise<void> {
    await this.virsh.run(['setvcpus', uuid, String(count), ...scopeOf(scope)]);
  }

  override async pinVcpu(uuid: string, vcpu: number, cpus: readonly number[]): Promise<void> {
    await this.virsh.run(['vcpupin', uuid, String(vcpu), formatCpuSet(cpus), '--live']);
  }

  override async pinEmulator(uuid: string, cpus: readonly number[]): Promise<void> {
    await this.virsh.run(['emulatorpin', uuid, formatCpuSet(cpus), '--live']);
  }

  override async resizeDisk(uuid: string, target: string, bytes: number): Promise<void> {
    await this.virsh.run(['blockresize', uuid, target, `${bytes}B`]);
  }

  override async attachDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['attach-device', uuid, file, ...scopeOf(scope)]);
  }

  override async setAutostart(uuid: string, isOn: boolean): Promise<void> {
    await this.virsh.run(['autostart', uuid, ...(isOn ? [] : ['--disable'])]);
  }

  override async detachDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['detach-device', uuid, file, ...scopeOf(scope)]);
  }

  override async updateDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['update-device', uuid, file, ...scopeOf(scope)]);
  }

  override async readBytes(uuid: string, target: string): Promise<number> {
    const statistics = await this.virsh.run(['domblkstat', uuid, target]);
    return Number(/^\S+ rd_bytes (\d+)$/m.exec(statistics)?.[1] ?? 0);
  }

  override async statistics(): Promise<DomainStatistics[]> {
    const groups = ['--cpu-total', '--balloon', '--interface', '--block'];
    const [statistics, domains] = await Promise.all([
      this.virsh.run(['domstats', '--raw', '--nowait', '--list-active', ...groups]),
      this.list(),
    ]);
    const fields = parseStatistics(statistics);
    // A domain that was created or removed between the two commands is in one of the lists only.
    return domains.flatMap((id) => {
      const found = fields.get(id.name);
      return found ? [{ id, fields: found }] : [];
    });
  }

  override async createPaused(xml: string): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['create', file, '--paused']);
  }

  override async screenshot(uuid: string, file: string, maxBytes: number): Promise<void> {
    await this.virsh.run(['screenshot', uuid, file], { timeoutMs: SCREENSHOT_TIMEOUT_MS });
    if ((await stat(file)).size > maxBytes)
      throw new DomainError('BACKEND_FAILED', `The picture of the screen has more than ${maxBytes} bytes.`);
  }

  override async start(uuid: string, options?: CallOptions): Promise<void> {
    await this.virsh.run(['start', uuid], options);
  }

  override async shutdown(uuid: string): Promise<void> {
    await this.virsh.run(['shutdown', uuid]);
  }

  override async reboot(uuid: string): Promise<void> {
    await this.virsh.run(['reboot', uuid]);
  }

  override async reset(uuid: string): Promise<void> {
    await this.virsh.run(['reset', uuid]);
  }

  override async suspend(uuid: string): Promise<void> {
    await this.virsh.run(['suspend', uuid]);
  }

  override async resume(uuid: string): Promise<void> {
    await this.virsh.run(['resume', uuid]);
  }

  override async wakeUp(uuid: string): Promise<void> {
    await this.virsh.run(['dompmwakeup', uuid]);
  }

  override async destroy(uuid: string, options?: CallOptions): Promise<void> {
    await this.virsh.run(['destroy', uuid], options);
  }

  override async interfaceAddresses(
    uuid: string,
    source: 'agent' | 'lease',
    options?: CallOptions,
  ): Promise<InterfaceAddress[]> {
    return parseAddresses(await this.virsh.run(['domifaddr', uuid, '--source', source, '--full'], options));
  }
}

const scopeOf = ({ inLiveDomain, inPersistentDomain }: Omit<DeviceChange, 'xml'>): string[] => [
  ...(inPersistentDomain ? ['--config'] : []),
  ...(inLiveDomain ? ['--live'] : []),
];

/** Lines of `<uuid> <name>`; a name may contain spaces. */
export const parseDomainList = (output: string): DomainId[] =>
  output
    .split('\n')
    .map((line) => /^\s*([0-9a-f-]{36}) +(.*\S)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, uuid = '', name = '']) => ({ uuid, name }));

/**
 * Parses the output of `domstats --raw` by the names of the domains: a line `Domain: 'name'`, then `field=value` lines.
 * The path of a disk may contain line breaks, so that only the first value of a field and the first block of a domain
 * count.
 */
export function parseStatistics(output: string): Map<string, StatisticFields> {
  const domains = new Map<string, StatisticFields>();
  let fields: Map<string, number | string> | undefined;
  for (const line of output.split('\n')) {
    const name = /^Domain: '(.*)'$/.exec(line)?.[1];
    if (name !== undefined) {
      fields = new Map();
      if (!domains.has(name)) domains.set(name, fields);
      continue;
    }
    const [, field, value = ''] = /^ {2}([\w.-]+)=(.*)$/.exec(line) ?? [];
    if (field !== undefined && fields && !fields.has(field))
      fields.set(field, /^\d+$/.test(value) ? Number(value) : value);
  }
  return domains;
}

/** Parses the table of `domifaddr`: name, MAC, protocol, address/prefix. */
export const parseAddresses = (table: string): InterfaceAddress[] =>
  table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map((cells) => ({
      interfaceName: cells[0] ?? '',
      ...(isMac(cells[1]) && { mac: cells[1] }),
      address: cells.at(-1)?.split('/')[0] ?? '',
    }))
    .filter(({ address }) => /^[0-9a-f.:]+$/i.test(address));

const isMac = (text: string | undefined): text is string => /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text ?? '');

/** Parses the table of `domblkinfo --all`: target, capacity, allocation, physical. */
function parseDiskSizes(table: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const line of table.split('\n')) {
    const [target, capacity] = line.trim().split(/\s+/);
    if (target !== undefined && capacity !== undefined && /^\d+$/.test(capacity)) sizes.set(target, Number(capacity));
  }
  return sizes;
}

const toDocuments = (id: DomainId, xml: string, persistentXml: string): DomainDocuments => ({
  id,
  xml,
  ...(persistentXml.trim() !== '' && persistentXml !== xml && { persistentXml }),
});
