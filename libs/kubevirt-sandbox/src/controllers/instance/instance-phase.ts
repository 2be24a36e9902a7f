import { setCondition, type Condition } from '../../types/condition.js';
import type { VirtualMachineInstance, VmiPhase } from '../../types/virtual-machine-instance.js';

/** Moves a VMI to a phase and records the time, on a draft. */
export function enterPhase(vmi: VirtualMachineInstance, phase: VmiPhase, now: string): void {
  const status = (vmi.status ??= {});
  if (status.phase === phase) return;
  status.phase = phase;
  status.phaseTransitionTimestamps = [
    ...(status.phaseTransitionTimestamps ?? []),
    { phase, phaseTransitionTimestamp: now },
  ];
}

/** Sets a condition of a VMI, on a draft. */
export function updateCondition(
  vmi: VirtualMachineInstance,
  condition: Pick<Condition, 'type' | 'status'> & Partial<Condition>,
  now: string,
): void {
  setCondition(((vmi.status ??= {}).conditions ??= []), condition, now);
}

/** The Ready condition while no guest runs. */
export const GUEST_NOT_RUNNING = {
  type: 'Ready',
  status: 'False',
  reason: 'GuestNotRunning',
  message: 'Guest VM is not reported as running',
} as const;
