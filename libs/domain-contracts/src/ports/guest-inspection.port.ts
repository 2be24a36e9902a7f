import type { GuestInfo } from '../model/guest-info.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** Reads facts about a running guest through its agent. */
export abstract class GuestInspection {
  /**
   * Answers within 15 s. Everything in it is bounded, and free of control characters, whatever the agent answered.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE, GUEST_AGENT_UNREACHABLE when the guest is not running,
   *   has no
   * agent, or when its agent does not answer in time or sends something that is no answer
   */
  abstract info(ref: InstanceRef): Promise<GuestInfo>;
}
