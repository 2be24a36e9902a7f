import type { StatusCause } from '@headgate/kube-sandbox';
import type { Disk, VmiSpec } from '../types/virtual-machine-instance.js';
import { duplicateNames, invalidValue } from './cause.js';

const BUSES = ['virtio', 'scsi', 'sata', 'usb'];
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_LABEL_LENGTH = 63;

/** Validates `domain.devices.disks`. `emptyDrives`: a CD-ROM may have no volume. */
export function diskCauses(spec: VmiSpec, path: string, emptyDrives: boolean): StatusCause[] {
  const here = `${path}.domain.devices.disks`;
  const disks = spec.domain.devices.disks ?? [];
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  return [
    ...duplicateNames(here, disks),
    ...disks.flatMap((disk, index) => {
      const missing = !volumes.has(disk.name) && !(emptyDrives && disk.cdrom);
      return [
        ...(missing
          ? [invalidValue(`${here}[${index}].name`, `${here}[${index}].Name '${disk.name}' not found.`)]
          : []),
        ...nameCauses(disk, `${here}[${index}]`),
        ...busCauses(disk, `${here}[${index}]`),
        ...(spec.architecture === 'arm64' ? armBusCauses(disk, `${here}[${index}]`) : []),
      ];
    }),
    ...bootOrderCauses(spec, here),
  ];
}

function nameCauses({ name }: Disk, path: string): StatusCause[] {
  if (DNS_LABEL.test(name) && name.length <= MAX_LABEL_LENGTH) return [];
  return [
    invalidValue(
      `${path}.name`,
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ),
  ];
}

function busCauses(disk: Disk, path: string): StatusCause[] {
  const bus = disk.disk?.bus ?? disk.cdrom?.bus ?? disk.lun?.bus;
  if (!bus) return [];
  if (bus === 'ide') return [invalidValue(`${path}.disk.bus`, 'IDE bus is not supported')];
  if (disk.cdrom && bus === 'virtio') {
    return [invalidValue(`${path}.cdrom.bus`, 'Bus type virtio is invalid for CD-ROM device')];
  }
  if (BUSES.includes(bus)) return [];
  const message = `${path} is set with an unrecognized bus ${bus}, must be one of: [${BUSES.join(' ')}]`;
  return [invalidValue(`${path}.disk.bus`, message)];
}

function armBusCauses(disk: Disk, path: string): StatusCause[] {
  return (['disk', 'cdrom', 'lun'] as const).flatMap((device): StatusCause[] => {
    const bus = disk[device]?.bus;
    if (!bus || bus === 'virtio' || bus === 'scsi') return [];
    const message = 'Arm64 not support this disk bus type, please use virtio or scsi';
    return [{ reason: 'FieldValueNotSupported', message, field: `${path}.${device}.bus` }];
  });
}

function bootOrderCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const seen = new Map<number, number>();
  return (domain.devices.disks ?? []).flatMap(({ bootOrder }, index) => {
    if (bootOrder === undefined) return [];
    const field = `${path}[${index}].bootOrder`;
    if (bootOrder < 1) return [invalidValue(field, `${path}[${index}] must have a boot order > 0, if supplied`)];
    const first = seen.get(bootOrder);
    seen.set(bootOrder, first ?? index);
    return first === undefined
      ? []
      : [invalidValue(field, `Boot order for ${field} already set for a different device.`)];
  });
}
