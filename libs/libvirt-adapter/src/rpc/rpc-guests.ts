import { domainOf, procedures } from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import {
  AGENT_TIMEOUT_SECONDS,
  GuestOperations,
  type AgentOptions,
  type GuestFacts,
} from '../connection/guest-operations.js';
import type { RpcLink } from './rpc-link.js';

/** Facts of every kind that the agent knows. */
const ALL_FACTS = 0;

export class RpcGuests extends GuestOperations {
  /** @param link for calls that take long, because a guest decides how long they take */
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async facts(uuid: string, options: CallOptions): Promise<GuestFacts> {
    await this.limitWait(uuid, options);
    const args = { domain: domainOf(uuid), types: ALL_FACTS, flags: 0 };
    return (await this.link.call(procedures.domainGetGuestInfo, args, { ...options, isSlow: true })).facts;
  }

  override async setPassword(uuid: string, user: string, password: string, options: CallOptions): Promise<void> {
    await this.limitWait(uuid, options);
    const args = { domain: domainOf(uuid), user, password, flags: 0 };
    await this.link.call(procedures.domainSetUserPassword, args, { ...options, isSlow: true });
  }

  override async command(
    uuid: string,
    command: string,
    { waitSeconds = AGENT_TIMEOUT_SECONDS, ...options }: AgentOptions,
  ): Promise<string> {
    const args = { domain: domainOf(uuid), command, timeoutSeconds: waitSeconds, flags: 0 };
    const { answer } = await this.link.call(procedures.qemuDomainAgentCommand, args, { ...options, isSlow: true });
    return answer ?? '';
  }

  /** Without a limit, an agent that does not answer would block every later question of any client. */
  private async limitWait(uuid: string, options: CallOptions): Promise<void> {
    const args = { domain: domainOf(uuid), timeoutSeconds: AGENT_TIMEOUT_SECONDS, flags: 0 };
    await this.link.call(procedures.domainAgentSetResponseTimeout, args, { ...options, isSlow: true });
  }
}
