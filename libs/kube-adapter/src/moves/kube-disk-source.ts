import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  DISK_BUSES,
  DiskSource,
  DomainError,
  loss,
  messageOf,
  releaseOnDestroy,
  type Firmware,
  type FirmwareVariables,
  type HardwareDisk,
  type InstanceRef,
  type Loss,
  type PortableDisk,
  type Refusal,
  type VmReading,
} from '@headgate/domain-contracts';
import type { ClaimObject, GuestSpec, GuestVolume } from '../api/object-types.js';
import { CLAIMS } from '../api/resources.js';
import { readHardware, readVmState, type HardwareDeps, type VmState } from '../hardware/vm-hardware.js';
import type { KubeExport } from '../export/kube-export.js';
import { ANNOTATION, tagsOf } from '../labels.js';

/** The fields of a VM that only a copy of it needs. Source: https://kubevirt.io/api-reference/ */
interface CopiedSpec extends GuestSpec {
  readonly domain?: GuestSpec['domain'] & {
    readonly firmware?: {
      readonly bootloader?: {
        readonly efi?: { readonly secureBoot?: boolean; readonly persistent?: boolean };
        readonly bios?: unknown;
      };
    };
    readonly features?: { readonly hyperv?: unknown; readonly hypervPassthrough?: unknown };
    readonly devices?: NonNullable<GuestSpec['domain']>['devices'] & {
      readonly tpm?: { readonly enabled?: boolean; readonly persistent?: boolean };
      readonly gpus?: readonly unknown[];
      readonly hostDevices?: readonly unknown[];
      readonly filesystems?: readonly unknown[];
      readonly sound?: unknown;
      readonly watchdog?: unknown;
    };
  };
}

type CopiedVolume = GuestVolume & {
  readonly cloudInitNoCloud?: CloudInit;
  readonly cloudInitConfigDrive?: CloudInit;
};

interface CloudInit {
  readonly userData?: string;
  readonly userDataBase64?: string;
}

/** Names of Kubernetes' architectures as libvirt has them. */
const ARCHES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64', s390x: 's390x' };
/** The network of the pod is a default, not a network that another backend could have. */
const POD_NETWORK = 'pod';

/** Reads VMs of a cluster, whose disks are exported one by one. */
export class KubeDiskSource extends DiskSource {
  constructor(
    private readonly deps: HardwareDeps,
    private readonly exports: KubeExport,
  ) {
    super();
  }

  override async describe(ref: InstanceRef): Promise<VmReading> {
    const state = await readVmState(this.deps, ref);
    const { vmi: _live, ...stopped } = state;
    // The configuration of the next start, which is that of the copy.
    const hardware = await readHardware(this.deps, stopped);
    const spec = state.spec as CopiedSpec;
    const refusals = await this.refusals(state, hardware.disks);
    const disks = hardware.disks.filter(isCopied).sort((a, b) => Number(b.isRoot) - Number(a.isRoot));
    const cloudInit = userDataOf(spec);
    const firmware = firmwareOf(spec);
    const tpm = spec.domain?.devices?.tpm !== undefined && spec.domain.devices.tpm.enabled !== false;
    return {
      vm: {
        cpu: state.size.cpu,
        memoryBytes: state.size.memoryBytes,
        arch: ARCHES[spec.architecture ?? 'amd64'] ?? '',
        firmware,
        tpm,
        hasTpmState: tpm && spec.domain?.devices?.tpm?.persistent === true,
        ...variablesOf(spec),
        ...operatingSystemOf(state),
        autostart: false,
        tags: tagsOf(state.vm.metadata.labels),
        ...(cloudInit !== undefined && { cloudInit }),
        disks: await Promise.all(disks.map((disk) => this.portableDisk(ref, disk))),
        nics: hardware.nics.map(({ name, network, mac, model }) => ({
          name,
          network: network === POD_NETWORK ? '' : network,
          mac,
          model,
        })),
      },
      refusals,
      warnings: [],
      losses: lossesOf(state, { hasCloudInit: cloudInit !== undefined, disks: hardware.disks }),
    };
  }

  override async open(ref: InstanceRef, disk: string, signal: AbortSignal): Promise<Readable> {
    const state = await readVmState(this.deps, ref);
    if (state.vmi) throw new DomainError('WRONG_STATE', `${ref.name} runs: stop it before reading its disks.`);
    const volume = state.spec.volumes?.find(({ name }) => name === disk);
    const claim = volume?.dataVolume?.name ?? volume?.persistentVolumeClaim?.claimName;
    if (claim === undefined)
      throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk} that can be copied.`);
    const compressed = await this.exports.openClaim(ref, claim, signal);
    const closed = new Promise<void>((resolve) => compressed.once('close', () => resolve()));
    const content = createGunzip();
    // The reader of the returned stream receives its error.
    pipeline(compressed, content, () => undefined);
    return releaseOnDestroy(content, async () => {
      compressed.destroy();
      await closed;
    });
  }

  private async portableDisk(
    { namespace }: InstanceRef,
    { device, bus, sizeBytes, volume = '' }: HardwareDisk,
  ): Promise<PortableDisk> {
    const claim = await this.deps.api.find<ClaimObject>(CLAIMS, { namespace, name: volume });
    const storageClass = claim?.spec?.storageClassName;
    return {
      name: device,
      sizeBytes: sizeBytes ?? 0,
      usedBytes: null,
      // KubeVirt's default.
      bus: DISK_BUSES.find((known) => known === bus) ?? 'virtio',
      ...(storageClass !== undefined && { storageClass }),
    };
  }

  private async refusals({ ref, spec }: VmState, disks: readonly HardwareDisk[]): Promise<Refusal[]> {
    const { devices } = (spec as CopiedSpec).domain ?? {};
    const refusals: Refusal[] = [];
    const refuse = (reason: string, remedy: string): void =>
      void refusals.push({ code: 'NOT_SUPPORTED', reason, remedy });
    if (devices?.gpus?.length || devices?.hostDevices?.length)
      refuse(`${ref.name} has a device of its node that is passed through.`, 'Remove the device from the VM.');
    if (devices?.filesystems?.length)
      refuse(`${ref.name} has a shared file system.`, 'Remove the file system from the VM.');
    for (const { name, lun, shareable } of (devices?.disks ?? []) as readonly {
      name: string;
      lun?: unknown;
      shareable?: boolean;
    }[]) {
      if (lun !== undefined || shareable)
        refuse(
          `The disk ${name} of ${ref.name} is ${shareable ? 'shared with other VMs' : 'a device that is passed through'}.`,
          'Detach it, or copy it with other tools.',
        );
    }
    for (const { device, type, volume, sizeBytes } of disks) {
      if (type === 'cdrom') continue;
      if (volume === undefined)
        refuse(
          `The disk ${device} of ${ref.name} is not a volume: its changes are lost when the VM stops.`,
          'Create the VM from the same image at the destination.',
        );
      else if (sizeBytes === null)
        refuse(`The volume ${volume} of ${ref.name} does not exist, or is not ready.`, 'Wait until it is ready.');
    }
    if (!disks.some(isCopied) && refusals.length === 0) refuse(`${ref.name} has no disk.`, 'Add a disk first.');
    await this.exports.expectExports().catch((error: unknown) => {
      if (!DomainError.is(error, 'NOT_SUPPORTED')) throw error;
      refuse(messageOf(error), 'Enable exports in the cluster.');
    });
    return refusals;
  }
}

const isCopied = ({ type, volume, sizeBytes }: HardwareDisk): boolean =>
  type === 'disk' && volume !== undefined && sizeBytes !== null;

function firmwareOf({ domain }: CopiedSpec): Firmware {
  const efi = domain?.firmware?.bootloader?.efi;
  if (!efi) return 'bios';
  // Secure Boot is KubeVirt's default for EFI.
  return efi.secureBoot === false ? 'uefi' : 'uefi-secure';
}

function userDataOf({ volumes = [] }: CopiedSpec): string | undefined {
  for (const { cloudInitNoCloud, cloudInitConfigDrive } of volumes as readonly CopiedVolume[]) {
    const { userData, userDataBase64 } = cloudInitNoCloud ?? cloudInitConfigDrive ?? {};
    if (userData !== undefined) return userData;
    if (userDataBase64 !== undefined) return Buffer.from(userDataBase64, 'base64').toString('utf8');
  }
  return undefined;
}

/**
 * Without `persistent`, the firmware starts with none each time. KubeVirt keeps them in a file system that is not
 * exported.
 */
const variablesOf = ({ domain }: CopiedSpec): { firmwareVariables?: FirmwareVariables } =>
  domain?.firmware?.bootloader?.efi?.persistent === true
    ? { firmwareVariables: { problem: 'KubeVirt keeps them in a volume of its own, which it does not export.' } }
    : {};

/** A Windows that was not moved here is recognized by its enlightenments. */
function operatingSystemOf({ vm, spec }: VmState): { os?: string } {
  const recorded = vm.metadata.annotations?.[ANNOTATION.guestOs];
  if (recorded !== undefined) return { os: recorded };
  const { features } = (spec as CopiedSpec).domain ?? {};
  return features?.hyperv || features?.hypervPassthrough ? { os: 'windows' } : {};
}

function lossesOf(
  { vm, spec }: VmState,
  { hasCloudInit, disks }: { readonly hasCloudInit: boolean; readonly disks: readonly HardwareDisk[] },
): Loss[] {
  const { devices } = (spec as CopiedSpec).domain ?? {};
  const volumes = (spec.volumes ?? []) as readonly CopiedVolume[];
  const hasSecret = !hasCloudInit && volumes.some((one) => one.cloudInitNoCloud ?? one.cloudInitConfigDrive);
  return [
    ...disks
      .filter(({ type, volume }) => type === 'cdrom' && volume !== undefined)
      .map(({ device }) => loss('media', `The drive ${device} with its medium.`)),
    ...(hasSecret
      ? [
          loss(
            'guest',
            'The cloud-init user data, which is in a Secret: the guest has read it when it first booted.',
            'info',
          ),
        ]
      : []),
    ...(vm.spec?.instancetype
      ? [loss('placement', 'The instancetype: the copy has its CPUs and memory.', 'info')]
      : []),
    ...(vm.spec?.preference ? [loss('devices', 'The preference, with the devices that it chooses.')] : []),
    ...(devices?.sound ? [loss('devices', 'The sound card.')] : []),
    ...(devices?.watchdog ? [loss('devices', 'The watchdog.')] : []),
    ...(spec.nodeSelector ? [loss('placement', 'The selection of nodes.', 'info')] : []),
  ];
}
