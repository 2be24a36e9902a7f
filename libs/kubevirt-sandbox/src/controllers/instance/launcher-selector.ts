import type { SimulationContext } from '../../simulation-context.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';

export const CPU_FEATURE = 'cpu-feature.node.kubevirt.io/';
const CPU_MODEL = 'cpu-model.node.kubevirt.io/';
const MACHINE_TYPE = 'machine-type.node.kubevirt.io/';
/** They follow the host instead of a label. */
const HOST_MODES = ['host-model', 'host-passthrough'];

/**
 * The node selector of a launcher. As in KubeVirt, `added` gives way to the VMI's own selector, and both give way to
 * what its CPU and its machine need.
 */
export function launcherSelector(
  { release }: SimulationContext,
  { spec, status }: VirtualMachineInstance,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { cpu, machine } = spec.domain;
  // A running guest keeps the machine that it was started with, whatever its alias means today.
  const machineType = status?.machine?.type || machine?.type;
  const required = (cpu?.features ?? []).filter(({ policy }) => !policy || policy === 'require');
  const needed = [
    ...(cpu?.dedicatedCpuPlacement ? ['cpumanager'] : []),
    ...(cpu?.model && !HOST_MODES.includes(cpu.model) ? [CPU_MODEL + cpu.model] : []),
    ...(cpu?.model ? required.map(({ name }) => CPU_FEATURE + name) : []),
    ...(machineType && release.since('1.6') ? [MACHINE_TYPE + machineType] : []),
  ];
  return {
    ...added,
    'kubernetes.io/arch': spec.architecture ?? 'amd64',
    'kubevirt.io/schedulable': 'true',
    ...spec.nodeSelector,
    ...Object.fromEntries(needed.map((label) => [label, 'true'])),
  };
}
