import {
  DomainError,
  firstBootSign,
  guestText,
  LoginPrompt,
  messageOf,
  plainText,
  type BootSign,
  type Clock,
} from '@headgate/domain-contracts';
import type { GuestOperations } from '../connection/guest-operations.js';
import { runInGuest } from '../guests/run-in-guest.js';

const AGENT_PAUSE_MS = 100;
const AGENT_CALL_TIMEOUT_MS = 5000;
const MAX_OUTPUT_CHARS = 2000;

export interface BootWatch {
  readonly uuid: string;
  readonly guests: GuestOperations;
  readonly clock: Clock;
  /** The output of the serial line. */
  readonly serial: AsyncIterable<Buffer>;
  readonly command?: { readonly path: string; readonly args: readonly string[] };
  readonly timeLimitMs: number;
  /** Aborted when the guest can no longer boot; its reason says why. */
  readonly signal: AbortSignal;
}

/**
 * The first sign that the guest is up: with a command, its exit; otherwise its agent, or a login prompt on the serial
 * line.
 * @throws DomainError BACKEND_TIMEOUT, WRONG_STATE when the guest has ended, or the reason of the signal
 */
export function waitForBoot(watch: BootWatch): Promise<BootSign> {
  const { clock, timeLimitMs, signal, command } = watch;
  const subject = command ? 'its command to end' : 'its agent or a login prompt';
  return firstBootSign({ clock, timeLimitMs, signal, subject }, (either) =>
    command ? [agentSign(watch, either)] : [agentSign(watch, either), promptSign(watch, either)],
  );
}

/** Polls, because libvirt's event for the agent may come before this process listens. */
async function agentSign(watch: BootWatch, signal: AbortSignal): Promise<BootSign> {
  const { uuid, guests, clock, command } = watch;
  for (;;) {
    signal.throwIfAborted();
    try {
      const ping = JSON.stringify({ execute: 'guest-ping' });
      await guests.command(uuid, ping, { timeoutMs: AGENT_CALL_TIMEOUT_MS, waitSeconds: 1 });
      break;
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND'))
        throw new DomainError('WRONG_STATE', 'The guest has powered off or crashed before it was up.');
      if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN')) throw error;
    }
    await clock.delay(AGENT_PAUSE_MS);
  }
  if (!command) return { kind: 'agent' };
  const { exitCode, stdout, stderr } = await runInGuest(
    { guests, clock, signal },
    { uuid, name: 'the proof' },
    { ...command, timeoutMs: watch.timeLimitMs },
  );
  const output = plainText(guestText(`${stdout}${stderr}`, MAX_OUTPUT_CHARS), MAX_OUTPUT_CHARS);
  return { kind: 'command', exitCode: exitCode ?? -1, output };
}

async function promptSign({ serial }: BootWatch, signal: AbortSignal): Promise<BootSign> {
  const prompt = new LoginPrompt();
  try {
    for await (const data of serial) {
      const found = prompt.find(data);
      if (found) return found;
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted)
      throw new DomainError('WRONG_STATE', `The serial line of the guest has ended: ${messageOf(error)}`);
  }
  // The agent may still answer, or the guest is found to have ended.
  return new Promise(() => undefined);
}
