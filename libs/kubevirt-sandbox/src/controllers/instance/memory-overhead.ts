import { binaryQuantity, MIB, quantityValue } from '../../quantity.js';
import type { SimulationContext } from '../../simulation-context.js';
import type { VirtualMachineInstance, VmiSpec } from '../../types/virtual-machine-instance.js';
import { vcpus } from '../../machines/vmi-defaults.js';

/** Of virt-launcher and its monitor, virtlogd, virtqemud and QEMU. */
const PROCESSES_MIB = 25 + 100 + 25 + 40 + 30;
const PER_VCPU_MIB = 8;
const IO_THREADS_MIB = 8;
const SCREEN_MIB = 32;
/** Two flash devices of the firmware. */
const ARM_MIB = 128;
const PASSED_THROUGH_MIB = 1024;
const TPM_MIB = 53;
/** Of guests whose pod has no less than it requests. */
const GUARANTEED_MIB = 100;
/** Bytes of memory that one byte of page tables covers. */
const PAGE_TABLE_RATIO = 512;

/** The memory that a launcher needs besides the guest's, in bytes, as KubeVirt 1.9 estimates it. */
export function memoryOverheadBytes({ kubevirt }: SimulationContext, { spec }: VirtualMachineInstance): number {
  const { devices, resources, cpu } = spec.domain;
  const parts = [
    PROCESSES_MIB,
    PER_VCPU_MIB * vcpus(spec),
    IO_THREADS_MIB,
    devices.autoattachGraphicsDevice === false ? 0 : SCREEN_MIB,
    spec.architecture === 'arm64' ? ARM_MIB : 0,
    passesThrough(spec) ? PASSED_THROUGH_MIB : 0,
    devices['tpm'] === undefined ? 0 : TPM_MIB,
    cpu?.dedicatedCpuPlacement || isGuaranteed(spec) ? GUARANTEED_MIB : 0,
  ];
  const fixed = parts.reduce((sum, part) => sum + part, 0) * MIB;
  // The memory of a VM that requests none of its own is not counted.
  const requested = quantityValue(resources?.requests?.['memory'] ?? '0');
  const pageTables = Math.floor((Math.ceil(requested / 1000) * 1000) / PAGE_TABLE_RATIO);
  const ratio = Number(kubevirt?.spec.configuration?.additionalGuestMemoryOverheadRatio ?? 1);
  return Math.ceil((fixed + pageTables) * (Number.isFinite(ratio) ? ratio : 1));
}

/** The field of the status. Releases before 1.9 have none. */
export const reportedOverhead = (
  context: SimulationContext,
  vmi: VirtualMachineInstance,
): { memoryOverhead?: string } =>
  context.release.since('1.9') ? { memoryOverhead: binaryQuantity(memoryOverheadBytes(context, vmi)) } : {};

const passesThrough = ({ domain: { devices } }: VmiSpec): boolean =>
  Boolean(devices.gpus?.length || devices.hostDevices?.length || devices.interfaces?.some(({ sriov }) => sriov));

function isGuaranteed({ domain }: VmiSpec): boolean {
  const { requests, limits } = domain.resources ?? {};
  return ['cpu', 'memory'].every((name) => limits?.[name] !== undefined && requests?.[name] === limits[name]);
}
