import {
  DomainError,
  guestText,
  MAX_COMMAND_OUTPUT_BYTES,
  messageOf,
  type Clock,
  type GuestCommand,
  type GuestCommandResult,
} from '@headgate/domain-contracts';
import type { GuestOperations } from '../connection/guest-operations.js';
import { askAgent, isRefusedByAgent } from './ask-agent.js';

export const AGENT_CALL_TIMEOUT_MS = 12_000;
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

export interface GuestProgramDeps {
  readonly guests: Pick<GuestOperations, 'command'>;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Runs a program through the agent of a guest, and waits for its end. @throws as `GuestControl.run` */
export async function runInGuest(
  deps: GuestProgramDeps,
  guest: { readonly uuid: string; readonly name: string },
  { path, args, timeoutMs }: GuestCommand,
): Promise<GuestCommandResult> {
  const { clock } = deps;
  const { pid } = await execute(deps, guest, 'guest-exec', { path, arg: args, 'capture-output': true });
  if (!Number.isSafeInteger(pid)) throw noAnswer(guest.name);
  const deadline = clock.now() + timeoutMs;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    deps.signal?.throwIfAborted();
    const status = await execute(deps, guest, 'guest-exec-status', { pid });
    if (status.exited === true) return toResult(status);
    if (clock.now() >= deadline) {
      throw new DomainError('BACKEND_TIMEOUT', `${path} still runs in ${guest.name} after ${timeoutMs} ms.`);
    }
    await clock.delay(Math.min(pauseMs, Math.max(1, deadline - clock.now())));
  }
}

async function execute(
  { guests }: GuestProgramDeps,
  { uuid, name }: { readonly uuid: string; readonly name: string },
  command: string,
  args: Readonly<Record<string, unknown>>,
): Promise<NonNullable<AgentReply['return']>> {
  const text = JSON.stringify({ execute: command, arguments: args });
  const answer = await obeying(name, () => guests.command(uuid, text, { timeoutMs: AGENT_CALL_TIMEOUT_MS }));
  const reply = parseReply(answer);
  if (typeof reply?.return !== 'object' || reply.return === null) throw noAnswer(name);
  return reply.return;
}

/** Separates an agent that refuses a command from one that does not answer. */
export const obeying = <T>(name: string, ask: () => Promise<T>): Promise<T> =>
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

const noAnswer = (name: string): DomainError =>
  new DomainError('GUEST_AGENT_UNREACHABLE', `The guest agent of ${name} sent something that is no answer.`);
