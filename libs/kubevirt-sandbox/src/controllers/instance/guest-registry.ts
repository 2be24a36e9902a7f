import { guestProfileFor } from '../../guests/guest-profile.js';
import type { GuestFacts } from '../../guests/guest-facts.js';
import { SimulatedGuest } from '../../guests/simulated-guest.js';
import { suffers } from '../../inherited-faults.js';
import { GIB, quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import { isTrue } from '../../types/condition.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { vcpus } from '../../machines/vmi-defaults.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';
import { guestHostname } from './launcher-pod.js';
import { diskTargets } from './volume-status.js';

/** With one of them, a guest never shows its login prompt. */
const BOOT_FAULTS = ['boot-hang', 'boot-power-off', 'boot-crash'] as const;

/** Actions that a guest takes on its own. */
export type GuestAction = 'power-off' | 'reboot';

/** The insides of running VMs, by the uid of their VMI. Created on first use and kept until the VMI ends. */
export class GuestRegistry {
  private readonly guests = new Map<string, SimulatedGuest>();
  /** The uids of VMIs that started paused, and were resumed since. */
  private readonly resumed = new Set<string>();
  private readonly listeners = new Set<(vmi: VirtualMachineInstance, action: GuestAction) => void>();

  constructor(private readonly context: SimulationContext) {}

  /** Receives guests that power off or reboot on their own. */
  onAction(listener: (vmi: VirtualMachineInstance, action: GuestAction) => void): void {
    this.listeners.add(listener);
  }

  /** The guest of a running VMI. */
  of(vmi: VirtualMachineInstance): SimulatedGuest {
    const uid = vmi.metadata.uid!;
    const known = this.guests.get(uid);
    if (known) return known;
    const power = {
      powerOff: () => this.act(uid, vmi, 'power-off'),
      reboot: () => this.act(uid, vmi, 'reboot'),
    };
    const guest = new SimulatedGuest(guestFacts(this.context, vmi), power, this.context.clock, {
      bootMs: this.context.timings.ms('guestBoot'),
      startsPaused: vmi.spec.startStrategy === 'Paused' && !this.resumed.has(uid),
      hangs: BOOT_FAULTS.some((fault) => suffers(this.context, fault, vmi)),
    });
    guest.freeze(isTrue(vmi.status?.conditions, 'Paused'));
    this.guests.set(uid, guest);
    return guest;
  }

  /** The guest, if it was used before. */
  peek({ metadata }: VirtualMachineInstance): SimulatedGuest | undefined {
    return this.guests.get(metadata.uid!);
  }

  /** A machine that has started paused boots its guest now. */
  resume(vmi: VirtualMachineInstance): void {
    if (vmi.spec.startStrategy === 'Paused') this.resumed.add(vmi.metadata.uid!);
    this.peek(vmi)?.freeze(false);
  }

  end(vmi: VirtualMachineInstance): void {
    this.resumed.delete(vmi.metadata.uid!);
    this.guests.get(vmi.metadata.uid!)?.dispose();
    this.guests.delete(vmi.metadata.uid!);
  }

  private act(uid: string, vmi: VirtualMachineInstance, action: GuestAction): void {
    const guest = this.guests.get(uid);
    if (action === 'power-off') guest?.shutDown();
    else guest?.reboot();
    for (const listener of this.listeners) listener(vmi, action);
  }
}

/** The facts that the guest of a VMI knows about its machine. */
export function guestFacts(context: SimulationContext, vmi: VirtualMachineInstance): GuestFacts {
  const started = vmi.status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running');
  const bootedAt = started ? Date.parse(started.phaseTransitionTimestamp) : context.clock.now();
  const targets = diskTargets(vmi);
  const statuses = new Map(vmi.status?.volumeStatus?.map((status) => [status.name, status]));
  const hasContent = (name: string): boolean => {
    const volume = vmi.spec.volumes?.find((candidate) => candidate.name === name);
    return !volume?.cloudInitNoCloud && !volume?.cloudInitConfigDrive;
  };
  return {
    name: vmi.metadata.name,
    hostname: guestHostname(vmi),
    profile: guestProfileFor(imageNames(context, vmi)),
    cpus: vcpus(vmi.spec),
    memoryBytes: quantityValue(vmi.status?.memory?.guestCurrent ?? vmi.spec.domain.memory?.guest ?? '1Gi'),
    interfaces: (vmi.status?.interfaces ?? []).map(({ ipAddress, mac, interfaceName }, index) => ({
      name: interfaceName ?? `enp${index + 1}s0`,
      address: ipAddress ?? '169.254.1.1',
      mac: mac ?? '',
    })),
    disks: (vmi.spec.domain.devices.disks ?? [])
      .filter(({ name, cdrom }) => !cdrom && hasContent(name))
      .map(({ name, serial = '' }) => ({
        device: targets.get(name) ?? 'vda',
        serial,
        bytes: quantityValue(statuses.get(name)?.persistentVolumeClaimInfo?.capacity?.storage) || 10 * GIB,
      })),
    bootedAt,
  };
}

/** Names that indicate the operating system: of the preference, the images, the disks' sources, and the VM. */
function imageNames(context: SimulationContext, vmi: VirtualMachineInstance): string[] {
  const { annotations = {}, namespace, name } = vmi.metadata;
  const images = (vmi.spec.volumes ?? []).flatMap((volume) => {
    if (volume.containerDisk) return [volume.containerDisk.image];
    const claim = claimNameOf(volume);
    if (!claim) return [];
    const source = context.without.has('cdi')
      ? undefined
      : context.find<DataVolume>(RESOURCES.dataVolume, namespace, claim)?.spec.source;
    return [source?.http?.url ?? source?.registry?.url ?? source?.pvc?.name ?? claim];
  });
  return [annotations['vm.kubevirt.io/os'] ?? '', ...images, name];
}
