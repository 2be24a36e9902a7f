import {
  DomainError,
  GuestControl,
  guestText,
  MAX_COMMAND_OUTPUT_BYTES,
  messageOf,
  type Clock,
  type GuestCommand,
  type GuestCommandResult,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { askAgent, isRefusedByAgent } from './ask-agent.js';

const TIMEOUT_MS = 12_000;
/** The delay between polls for a program's exit: short at first, because most exit immediately. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/**
 * The fields of the agent's answers, which may have any type. Source:
 * https://www.qemu.org/docs/master/interop/qemu-ga-ref.html
 */
interface AgentReply {
  readonly return?: {
    readonly pid?: unknown;
    readonly exited?: unknown;
    readonly exitcode?: unknown;
    readonly 'out-data'?: unknown;
    readonly 'err-data'?: unknown;
    readonly 'out-truncated'?: unknown;
    readonly 'err-truncated'?: unknown;
  };
}

/** Sets passwords and runs programs through the QEMU guest agent. */
export class LibvirtGuestControl extends GuestControl {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async setPassword(ref: InstanceRef, user: string, password: string): Promise<void> {
    const { uuid } = await this.finder.find(ref);
    const { guests } = this.connection;
    await obey(ref.name, () => guests.setPassword(uuid, user, password, { timeoutMs: TIMEOUT_MS }));
  }

  override async run(ref: InstanceRef, { path, args, timeoutMs }: GuestCommand): Promise<GuestCommandResult> {
    const { uuid } = await this.finder.find(ref);
    const started = await this.execute(ref, uuid, 'guest-exec', { path, arg: args, 'capture-output': true });
    const { pid } = started;
    if (!Number.isSafeInteger(pid)) throw noAnswer(ref);
    const deadline = this.clock.now() + timeoutMs;
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const status = await this.execute(ref, uuid, 'guest-exec-status', { pid });
      if (status.exited === true) return toResult(status);
      if (this.clock.now() >= deadline) {
        throw new DomainError('BACKEND_TIMEOUT', `${path} still runs in ${ref.name} after ${timeoutMs} ms.`);
      }
      await this.clock.delay(Math.min(pauseMs, Math.max(1, deadline - this.clock.now())));
    }
  }

  private async execute(
    ref: InstanceRef,
    uuid: string,
    command: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<NonNullable<AgentReply['return']>> {
    const text = JSON.stringify({ execute: command, arguments: args });
    const answer = await obey(ref.name, () => this.connection.guests.command(uuid, text, { timeoutMs: TIMEOUT_MS }));
    const reply = parseReply(answer);
    if (typeof reply?.return !== 'object' || reply.return === null) throw noAnswer(ref);
    return reply.return;
  }
}

/** Separates an agent that refuses a command from one that does not answer. */
const obey = <T>(name: string, ask: () => Promise<T>): Promise<T> =>
  askAgent(name, ask).catch((error: unknown) => {
    const { cause } = error as Error;
    if (!isRefusedByAgent(cause)) throw error;
    throw new DomainError('REJECTED_BY_BACKEND', `The guest ${name} refuses: ${guestText(messageOf(cause))}`, {
      cause,
    });
  });

function parseReply(text: string): AgentReply | undefined {
  try {
    return JSON.parse(text) as AgentReply;
  } catch {
    return undefined;
  }
}

function toResult(status: NonNullable<AgentReply['return']>): GuestCommandResult {
  const [stdout, stderr] = [decode(status['out-data']), decode(status['err-data'])];
  const isTruncated = status['out-truncated'] === true || status['err-truncated'] === true;
  return {
    exitCode: Number.isSafeInteger(status.exitcode) ? (status.exitcode as number) : null,
    stdout: stdout.text,
    stderr: stderr.text,
    isTruncated: isTruncated || stdout.isCut || stderr.isCut,
  };
}

/** Base64 takes four characters for three bytes, so a long output is cut before it is decoded. */
function decode(data: unknown): { readonly text: string; readonly isCut: boolean } {
  if (typeof data !== 'string') return { text: '', isCut: false };
  const maxChars = Math.floor(MAX_COMMAND_OUTPUT_BYTES / 3) * 4;
  const bytes = Buffer.from(data.slice(0, maxChars), 'base64');
  // A cut may split the last character.
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
  return { text, isCut: data.length > maxChars };
}

const noAnswer = ({ name }: InstanceRef): DomainError =>
  new DomainError('GUEST_AGENT_UNREACHABLE', `The guest agent of ${name} sent something that is no answer.`);
