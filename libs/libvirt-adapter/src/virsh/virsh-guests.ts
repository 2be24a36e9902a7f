import type { CallOptions } from '../connection/call-options.js';
import {
  AGENT_TIMEOUT_SECONDS,
  GuestOperations,
  type AgentOptions,
  type GuestFacts,
} from '../connection/guest-operations.js';
import type { Virsh } from './virsh.js';

const timeoutArgs = (seconds: number): readonly string[] => ['--timeout', String(seconds)];

export class VirshGuests extends GuestOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async facts(uuid: string, options: CallOptions): Promise<GuestFacts> {
    await this.limitWait(uuid, options);
    return parseFacts(await this.virsh.run(['guestinfo', uuid], options));
  }

  override async setPassword(uuid: string, user: string, password: string, options: CallOptions): Promise<void> {
    await this.limitWait(uuid, options);
    await this.virsh.runSecretly(['set-user-password', uuid, user, password], options);
  }

  override command(
    uuid: string,
    command: string,
    { waitSeconds = AGENT_TIMEOUT_SECONDS, ...options }: AgentOptions,
  ): Promise<string> {
    return this.virsh.run(['qemu-agent-command', uuid, ...timeoutArgs(waitSeconds), command], options);
  }

  /** Without a limit, an agent that does not answer would block every later question of any client. */
  private async limitWait(uuid: string, options: CallOptions): Promise<void> {
    await this.virsh.run(['guest-agent-timeout', uuid, ...timeoutArgs(AGENT_TIMEOUT_SECONDS)], options);
  }
}

/** Parses lines such as `fs.0.name        : vda1`. The first line of a name counts: a value may contain line breaks. */
export function parseFacts(output: string): GuestFacts {
  const facts = new Map<string, string | number>();
  for (const line of output.split('\n')) {
    const [, name, value = ''] = /^([a-z][a-z0-9.-]*) *: (.*)$/.exec(line) ?? [];
    if (name === undefined || facts.has(name)) continue;
    facts.set(name, NUMBERS.test(name) ? Number(value) : value);
  }
  return facts;
}

/** The facts that libvirt types as numbers. */
const NUMBERS = /(?:count|-bytes|login-time)$/;
