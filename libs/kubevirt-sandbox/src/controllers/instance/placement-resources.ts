import { binaryQuantity } from '../../quantity.js';
import type { VirtualMachineInstance, VmiSpec } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { guestMemoryBytes, vcpus } from '../../machines/vmi-defaults.js';

/**
 * The resources of a launcher that a node must offer besides ordinary CPU and memory. They are requests and limits
 * alike.
 */
export function placementResources(spec: VmiSpec): Record<string, string> {
  const { cpu, memory, devices } = spec.domain;
  const counts = new Map<string, number>();
  for (const { deviceName } of [...(devices.gpus ?? []), ...(devices.hostDevices ?? [])]) {
    if (deviceName) counts.set(deviceName, (counts.get(deviceName) ?? 0) + 1);
  }
  return {
    ...(cpu?.dedicatedCpuPlacement ? { cpu: String(vcpus(spec) + (cpu.isolateEmulatorThread ? 1 : 0)) } : {}),
    ...(memory?.hugepages?.pageSize
      ? { [`hugepages-${memory.hugepages.pageSize}`]: binaryQuantity(guestMemoryBytes(spec)) }
      : {}),
    ...Object.fromEntries([...counts].map(([name, count]) => [name, String(count)])),
  };
}

/** The memory of the guest that ordinary pages back. */
export const ordinaryMemoryBytes = (spec: VmiSpec): number =>
  spec.domain.memory?.hugepages?.pageSize ? 0 : guestMemoryBytes(spec);

/** Why the launcher can't be created: devices that the KubeVirt resource does not permit, if it lists any. */
export function deviceObstacle({ kubevirt }: SimulationContext, { spec }: VirtualMachineInstance): string | undefined {
  const permitted = kubevirt?.spec.configuration?.permittedHostDevices;
  if (!permitted) return undefined;
  const { pciHostDevices = [], mediatedDevices = [], usb = [] } = permitted;
  const known = new Set([...pciHostDevices, ...mediatedDevices, ...usb].map(({ resourceName }) => resourceName));
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const problems = [
    ...gpus.map(({ deviceName = '' }) => ['GPU', deviceName] as const),
    ...hostDevices.map(({ deviceName = '' }) => ['HostDevice', deviceName] as const),
  ]
    .filter(([, name]) => !known.has(name))
    .map(([kind, name]) => `${kind} ${name} is not permitted in permittedHostDevices configuration`);
  return problems.length === 0 ? undefined : `failed to render launch manifest: ${problems.join(' ')}`;
}
