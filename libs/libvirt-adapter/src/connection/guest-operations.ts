import type { CallOptions } from './call-options.js';

/**
 * A fact about a guest by libvirt's name for it:
 * https://libvirt.org/html/libvirt-libvirt-domain.html#virDomainGetGuestInfo
 */
export type GuestFacts = ReadonlyMap<string, string | number | boolean>;

/**
 * The guest agent. The guest controls its answers, so they may be hostile. libvirt refuses answers of more than 10 MiB.
 * Methods throw GUEST_AGENT_UNREACHABLE, or libvirt's error.
 */
export abstract class GuestOperations {
  /** The facts that the agent knows about its system, users and file systems. */
  abstract facts(uuid: string, options: CallOptions): Promise<GuestFacts>;
  /** The password is in no argument of a program. */
  abstract setPassword(uuid: string, user: string, password: string, options: CallOptions): Promise<void>;
  /** Sends a command in the agent's JSON protocol and returns the answer. It must not contain a secret. */
  abstract command(uuid: string, command: string, options: AgentOptions): Promise<string>;
}

export interface AgentOptions extends CallOptions {
  /** How long libvirt waits for the answer. Default: `AGENT_TIMEOUT_SECONDS` */
  readonly waitSeconds?: number;
}

/** How long libvirt waits for one answer of an agent. */
export const AGENT_TIMEOUT_SECONDS = 5;
