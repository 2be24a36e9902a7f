import type { InstanceRef } from '../values/instance-ref.js';

export interface GuestCommand {
  /** A program of the guest: an absolute path, or a name that its agent looks up. No shell interprets it. */
  readonly path: string;
  readonly args: readonly string[];
  /** How long the program may run. */
  readonly timeoutMs: number;
}

export interface GuestCommandResult {
  /** Null when a signal or an exception ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether a part of the output is missing. */
  readonly isTruncated: boolean;
}

/** The longest output that is kept of each stream. */
export const MAX_COMMAND_OUTPUT_BYTES = 65_536;

/** Acts inside a running guest through its agent. */
export abstract class GuestControl {
  /**
   * Sets the password of an account that exists in the guest. The password appears in no log, error or process list.
   * @throws DomainError INSTANCE_NOT_FOUND, GUEST_AGENT_UNREACHABLE, REJECTED_BY_BACKEND when the guest refuses it
   */
  abstract setPassword(ref: InstanceRef, user: string, password: string): Promise<void>;

  /**
   * Runs a program in the guest and waits for its end.
   * @throws DomainError INSTANCE_NOT_FOUND, GUEST_AGENT_UNREACHABLE, REJECTED_BY_BACKEND when the guest can't start it,
   * BACKEND_TIMEOUT when it still runs after `timeoutMs`; it is not ended then
   */
  abstract run(ref: InstanceRef, command: GuestCommand): Promise<GuestCommandResult>;
}
