import { constants, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { ReadStream } from 'node:tty';
import { DomainError } from '@headgate/domain-contracts';

/**
 * Opens a terminal device as raw bytes both ways. It closes when the machine stops.
 * @throws DomainError BACKEND_FAILED when it can't be opened
 */
export function openTerminal(path: string): Duplex {
  try {
    // Named for its use on standard input; over a descriptor that is open for both, it writes too.
    const terminal = new ReadStream(openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK));
    // No echo, no line editing, no signals: the guest does all that.
    terminal.setRawMode(true);
    return terminal;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DomainError('BACKEND_FAILED', `The VM's serial console ${path} can't be opened (${code ?? message}).`, {
      cause: error,
    });
  }
}
