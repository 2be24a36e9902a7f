import type { AttachedVolumeView, HardwareStatusView, HardwareView } from '@headgate/api-contracts';
import { formatBytes, type Hardware } from '@headgate/domain-contracts';
import type { HardwareOutcome } from '@headgate/instances';
import { presentPlacement } from './present-placement.js';

const present = (applying: Hardware['applying'] = []) => (applying.length === 0 ? {} : { applying: [...applying] });

const changeFields = ({ effect, pending, applying }: HardwareOutcome) => ({
  effect,
  pending: [...pending],
  ...present(applying),
});

export const presentStatus =
  (status: 'ok' | 'removed') =>
  (outcome: HardwareOutcome): HardwareStatusView => ({ status, ...changeFields(outcome) });

export const presentAttached = (outcome: HardwareOutcome): AttachedVolumeView => ({
  pvc: outcome.volume ?? '',
  ...changeFields(outcome),
});

export const presentHardware = (hardware: Hardware): HardwareView => ({
  cpu: hardware.cpu,
  maxCpu: hardware.maxCpu,
  mem: formatBytes(hardware.memoryBytes),
  maxMem: sizeOf(hardware.maxMemoryBytes),
  disks: hardware.disks.map(({ volume = null, sizeBytes, ...disk }) => ({
    ...disk,
    pvc: volume,
    size: sizeOf(sizeBytes),
  })),
  nics: hardware.nics.map(({ name, network, mac, model, isLinkUp }) => ({
    iface: name,
    nad: network,
    mac,
    model,
    link: isLinkUp ? 'up' : 'down',
  })),
  bootOrder: [...hardware.bootOrder],
  autostart: hardware.autostart,
  placement: presentPlacement(hardware.placement),
  hostDevices: hardware.hostDevices.map(({ name, device, kind }) => ({ name, device, kind })),
  pending: [...hardware.pending],
  ...present(hardware.applying),
  ...(hardware.changes && { changes: [...hardware.changes] }),
});

const sizeOf = (bytes: number | null): string | null => (bytes === null ? null : formatBytes(bytes));
