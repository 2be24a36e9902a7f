import { guestOsInfo } from '../../guests/guest-agent.js';
import type { GuestFacts } from '../../guests/guest-facts.js';
import { removeCondition } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { noteCondition } from './instance-phase.js';
import { interfaceStatuses } from './interface-status.js';

/** What a VMI shows once its guest agent answers, on a draft. */
export function connectAgent(vmi: VirtualMachineInstance, facts: GuestFacts, now: string): void {
  noteCondition(vmi, { type: 'AgentConnected', status: 'True', lastProbeTime: now }, now);
  vmi.status!.guestOSInfo = guestOsInfo(facts);
  tellInterfaces(vmi);
}

/** What remains when it falls silent, on a draft. */
export function disconnectAgent(vmi: VirtualMachineInstance): void {
  removeCondition(vmi.status!.conditions ?? [], 'AgentConnected');
  tellInterfaces(vmi);
}

function tellInterfaces(vmi: VirtualMachineInstance): void {
  vmi.status!.interfaces = interfaceStatuses(vmi, vmi.status!.interfaces?.[0]?.ipAddress);
}
