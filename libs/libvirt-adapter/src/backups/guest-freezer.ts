import { guestText, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainId } from '../connection/domain-operations.js';

export interface GuestFreezerDeps {
  readonly connection: Pick<LibvirtConnection, 'guests'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writing everything to the disks can take a busy guest this long. */
const FREEZE_SECONDS = 20;
const THAW_SECONDS = 5;
/** libvirt waits for the agent's answer to its greeting, too. */
const MARGIN_MS = 10_000;
const THAW_ATTEMPTS = 6;
const PAUSE_MS = 1000;

/** Freezes the file systems of guests through their agents. Source: https://www.qemu.org/docs/master/interop/qemu-ga-ref.html */
export class GuestFreezer {
  constructor(private readonly deps: GuestFreezerDeps) {}

  /** @returns whether file systems are frozen now, or why not. Callers thaw them in any case. */
  async freeze(id: DomainId): Promise<true | string> {
    try {
      const frozen = await this.command(id, 'guest-fsfreeze-freeze', FREEZE_SECONDS);
      return typeof frozen === 'number' && frozen > 0 ? true : 'The agent found no file system to freeze.';
    } catch (error) {
      return `The agent did not freeze the file systems (${guestText(messageOf(error)).replace(/\.$/, '')}).`;
    }
  }

  /**
   * An agent that still freezes does not answer until it has finished, so this is repeated. Does not throw: a guest
   * that has stopped has nothing frozen.
   */
  async thaw(id: DomainId): Promise<boolean> {
    const { clock, log } = this.deps;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.command(id, 'guest-fsfreeze-thaw', THAW_SECONDS);
        return true;
      } catch (error) {
        if (attempt < THAW_ATTEMPTS) await clock.delay(PAUSE_MS);
        else {
          log.warn({ domain: id.name, reason: messageOf(error) }, 'the guest did not confirm that it writes again');
          return false;
        }
      }
    }
  }

  private async command({ uuid }: DomainId, name: string, waitSeconds: number): Promise<unknown> {
    const answer = await this.deps.connection.guests.command(uuid, JSON.stringify({ execute: name }), {
      waitSeconds,
      timeoutMs: waitSeconds * 1000 + MARGIN_MS,
    });
    return (JSON.parse(answer) as { readonly return?: unknown } | null)?.return;
  }
}
