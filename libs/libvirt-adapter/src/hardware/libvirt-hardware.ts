import {
  deviceNotFound,
  DomainError,
  InstanceHardware,
  messageOf,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  throwFirstRefusal,
  type Clock,
  type Hardware,
  type HardwareChange,
  type HardwarePlan,
  type HardwareResult,
  type InstanceRef,
  type Log,
  type PlannedChange,
  type SetAutostartChange,
  type SetBootOrderChange,
} from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, parseXml } from '../xml/xml.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { Host } from '../host/host.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { StopRequests } from '../domains/stop-requests.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { bootOrderOf, readDomainHardware, type DomainHardware } from './domain-hardware.js';
import { withBootOrder } from './edit-domain-xml.js';
import { HostDeviceChanges } from './host-devices.js';
import { plugRefusal } from './hotplug.js';
import { NicChanges } from './nics.js';
import { planPlacement } from './placement/placement-change.js';
import { Restarts } from './restarts.js';
import { planScale } from './scale.js';
import { VolumeChanges } from './volumes/volume-changes.js';

export interface LibvirtHardwareDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly stops: StopRequests;
  /** The identity of this service, which marks its own unfinished work. */
  readonly mark: () => string;
  /** Called when a disk of a stopped domain has another size. */
  readonly onResized: (domain: DomainId) => void;
  readonly describeHost: () => Promise<Host>;
  /** The interfaces of the machine that have a default route; none where the machine is not this one. */
  readonly defaultInterfaces: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}

export class LibvirtHardware extends InstanceHardware {
  private readonly volumes: VolumeChanges;
  private readonly nics: NicChanges;
  private readonly hostDevices: HostDeviceChanges;
  private readonly restarts: Restarts;

  constructor(private readonly deps: LibvirtHardwareDeps) {
    super();
    this.volumes = new VolumeChanges(deps);
    this.nics = new NicChanges(deps);
    this.hostDevices = new HostDeviceChanges(deps);
    this.restarts = new Restarts(deps);
  }

  override async read(ref: InstanceRef): Promise<Hardware> {
    return (await this.domain(await this.deps.finder.find(ref))).hardware;
  }

  override async plan(ref: InstanceRef, change: HardwareChange): Promise<HardwarePlan> {
    const id = await this.deps.finder.find(ref);
    return (await this.prepare(id, change)).plan;
  }

  override async apply(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> {
    const id = await this.deps.finder.find(ref);
    return this.deps.lock.run(id.uuid, () =>
      this.withClaim(change, async () => {
        const { plan, run } = await this.prepare(id, change);
        throwFirstRefusal(plan);
        return { effect: plan.effect, ...(await run()) };
      }),
    );
  }

  /**
   * Completes or undoes what an earlier run of this service did not finish. Called with each domain that is discovered.
   */
  async recover(description: DomainDescription): Promise<void> {
    const { uuid, name, metadata } = description;
    if (metadata.owner !== uuid) return;
    await this.restarts.resume(description);
    if (!metadata.volumes.some(({ pending }) => pending !== undefined)) return;
    await this.deps.lock
      .run(uuid, () => this.volumes.dropUnused(uuid))
      .catch((error: unknown) =>
        this.deps.log.warn({ domain: name, reason: messageOf(error) }, 'an unused volume could not be removed'),
      );
  }

  /** Serializes requests for the same volume, and for devices of the host, so that the second one finds it in use. */
  private withClaim<T>(change: HardwareChange, work: () => Promise<T>): Promise<T> {
    // Devices of one IOMMU group depend on each other.
    if (change.kind === 'attach-host-device') return this.deps.lock.run('claim of a host device', work);
    const volume = change.kind === 'attach-volume' && 'volume' in change.disk ? change.disk.volume : undefined;
    return volume === undefined ? work() : this.deps.lock.run(`claim ${volume}`, work);
  }

  private async prepare(id: DomainId, change: HardwareChange): Promise<PlannedChange> {
    const domain = await this.domain(id);
    const refusal = busyRefusal(domain) ?? plugRefusal(domain, change);
    if (refusal) return refusedChange(refusal);
    switch (change.kind) {
      case 'scale':
        return planScale(domain, change, { ...this.deps, restarts: this.restarts });
      case 'attach-volume':
        return this.volumes.attach(domain, change);
      case 'detach-volume':
        return this.volumes.detach(domain, change);
      case 'expand-volume':
        return this.volumes.expand(domain, change);
      case 'change-medium':
        return this.volumes.changeMedium(domain, change);
      case 'add-nic':
        return this.nics.add(domain, change);
      case 'change-nic':
        return this.nics.change(domain, change);
      case 'remove-nic':
        return this.nics.remove(domain, change);
      case 'set-boot-order':
        return this.setBootOrder(domain, change);
      case 'set-autostart':
        return this.setAutostart(domain, change);
      case 'set-placement':
        return planPlacement(domain, change, { ...this.deps, restarts: this.restarts });
      case 'attach-host-device':
        return this.hostDevices.attach(domain, change);
      case 'detach-host-device':
        return this.hostDevices.detach(domain, change);
    }
  }

  private async setBootOrder(domain: DomainHardware, { devices }: SetBootOrderChange): Promise<PlannedChange> {
    const { id, config } = domain;
    const present = [...config.disks.map(({ device }) => device), ...config.nics.map(({ name }) => name)];
    const unknown = devices.find((device) => !present.includes(device));
    if (unknown !== undefined) {
      const { message } = deviceNotFound(id.name, `device ${unknown}`, present);
      return refusedChange(refusal('DEVICE_NOT_FOUND', message, 'Name devices of the VM.'));
    }
    if (devices.length === 0 || new Set(devices).size !== devices.length) {
      return refusedChange(
        refusal('INVALID_INPUT', 'devices must name at least one device, and none twice.', 'Name each device once.'),
      );
    }
    if (devices.join() === bootOrderOf(config).join()) return noChange;
    const macs = new Map(config.nics.map(({ name, mac }) => [mac, name]));
    const orderOf = (device: string): number | undefined => {
      const index = devices.indexOf(deviceNameOf(device, macs));
      return index < 0 ? undefined : index + 1;
    };
    const run = async (): Promise<void> => {
      const { domains } = this.deps.connection;
      await domains.define(withBootOrder(await domains.persistentXml(id.uuid), orderOf));
    };
    return plannedChange({
      effect: 'next-start',
      steps: [{ name: 'boot order', detail: `${id.name} boots from ${devices.join(', ')}.` }],
      run,
    });
  }

  private async setAutostart({ id, hardware }: DomainHardware, { isOn }: SetAutostartChange): Promise<PlannedChange> {
    if (hardware.autostart === isOn) return noChange;
    const detail = `${id.name} ${isOn ? 'is' : 'is no longer'} started with this machine.`;
    return plannedChange({
      effect: 'now',
      steps: [{ name: 'autostart', detail }],
      run: () => this.deps.connection.domains.setAutostart(id.uuid, isOn),
    });
  }

  /** @throws DomainError INSTANCE_NOT_FOUND */
  private async domain(id: DomainId): Promise<DomainHardware> {
    const found = await readDomainHardware(this.deps.connection, id, this.deps.pool.name);
    if (found) return found;
    throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${id.name} no longer exists.`);
  }
}

/** The name of the device that an element describes: the target of a disk, or the name of a NIC. */
function deviceNameOf(xml: string, nameOfMac: ReadonlyMap<string, string>): string {
  const document = parseXml(xml);
  const [disk] = elements(document, 'disk');
  if (disk) return attribute(element(disk, 'target'), 'dev') ?? '';
  const [nic] = elements(document, 'interface');
  return nameOfMac.get(attribute(element(nic, 'mac'), 'address') ?? '') ?? '';
}

function busyRefusal({ id, config, state }: DomainHardware) {
  const { metadata, unreadable } = config.description;
  if (unreadable !== undefined) {
    return refusal('WRONG_STATE', `${id.name} can't be changed. ${unreadable}`, 'Correct it with virsh.');
  }
  if (metadata.provisioning !== undefined) {
    return refusal('BUSY', `${id.name} is still being created.`, 'Wait until its disk is ready.');
  }
  if (state.reason === 'migrating') return refusal('BUSY', `${id.name} is being migrated.`, 'Wait until that is done.');
  return undefined;
}
