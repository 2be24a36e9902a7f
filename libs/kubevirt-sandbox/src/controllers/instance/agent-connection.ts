import { guestOsInfo } from '../../guests/guest-agent.js';
import type { GuestFacts } from '../../guests/guest-facts.js';
import { removeCondition } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { updateCondition } from './instance-phase.js';
import { interfaceStatuses } from './interface-status.js';

/** Sets what a VMI shows once its guest agent answers, on a draft. */
export function connectAgent(vmi: VirtualMachineInstance, facts: GuestFacts, now: string): void {
  updateCondition(vmi, { type: 'AgentConnected', status: 'True', lastProbeTime: now }, now);
  vmi.status!.guestOSInfo = guestOsInfo(facts);
  reportInterfaces(vmi);
}

/** Clears it when the agent stops answering, on a draft. */
export function disconnectAgent(vmi: VirtualMachineInstance): void {
  removeCondition(vmi.status!.conditions ?? [], 'AgentConnected');
  reportInterfaces(vmi);
}

function reportInterfaces(vmi: VirtualMachineInstance): void {
  vmi.status!.interfaces = interfaceStatuses(vmi, vmi.status!.interfaces?.[0]?.ipAddress);
}
