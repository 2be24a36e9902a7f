import { DomainError, guestText, messageOf, plainText, type BootSign, type Clock } from '@headgate/domain-contracts';
import type { GuestOperations } from '../connection/guest-operations.js';
import { runInGuest } from '../guests/run-in-guest.js';

const AGENT_PAUSE_MS = 100;
const AGENT_CALL_TIMEOUT_MS = 5000;
const TAIL_CHARS = 8192;
const MAX_PROMPT_CHARS = 200;
const MAX_OUTPUT_CHARS = 2000;
/** Terminals are moved to the login prompt by such sequences. */
const CONTROL_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[()#][0-9A-Z]|[=>78cDEHM])/g;
const PROMPT = /(?:^|[\r\n])[^\S\r\n]*(?!last\b)((?:[\w.@()-]{1,64} ?){0,4}login:)/i;

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
export async function waitForBoot(watch: BootWatch): Promise<BootSign> {
  const ended = new AbortController();
  const signal = AbortSignal.any([watch.signal, ended.signal]);
  const { clock, timeLimitMs, command } = watch;
  let stop = (): void => undefined;
  const refused = new Promise<never>((_resolve, reject) => {
    const subject = command ? 'its command to end' : 'its agent or a login prompt';
    const late = new DomainError(
      'BACKEND_TIMEOUT',
      `The guest did not boot: ${timeLimitMs / 1000} s for ${subject} are over.`,
    );
    const cancel = clock.after(timeLimitMs, () => reject(late));
    const abort = (): void => reject(watch.signal.reason as Error);
    watch.signal.addEventListener('abort', abort, { once: true });
    if (watch.signal.aborted) abort();
    stop = () => {
      cancel();
      watch.signal.removeEventListener('abort', abort);
    };
  });
  try {
    const signs = command ? [agentSign(watch, signal)] : [agentSign(watch, signal), promptSign(watch, signal)];
    return await Promise.race([refused, ...signs]);
  } finally {
    stop();
    ended.abort();
  }
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
  let tail = '';
  try {
    for await (const data of serial) {
      tail = `${tail}${data.toString('latin1')}`.replace(CONTROL_SEQUENCE, '').slice(-TAIL_CHARS);
      const found = PROMPT.exec(tail);
      if (found) return { kind: 'prompt', text: plainText(found[1] ?? '', MAX_PROMPT_CHARS) };
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted)
      throw new DomainError('WRONG_STATE', `The serial line of the guest has ended: ${messageOf(error)}`);
  }
  // The agent may still answer, or the guest is found to have ended.
  return new Promise(() => undefined);
}
