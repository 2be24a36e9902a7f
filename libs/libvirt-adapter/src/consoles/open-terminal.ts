import { constants, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { ReadStream } from 'node:tty';
import { DomainError } from '@headgate/domain-contracts';

/**
 * Opens a terminal device as a raw byte stream in both directions. It closes when the VM stops.
 * @throws DomainError BACKEND_FAILED when it can't be opened
 */
export function openTerminal(path: string): Duplex {
  try {
    // Despite its name, a tty.ReadStream also writes when its descriptor is open for both.
    const terminal = new ReadStream(openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK));
    // No echo, line editing or signals: the guest's terminal handles those.
    terminal.setRawMode(true);
    return terminal;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DomainError('BACKEND_FAILED', `The VM's serial console ${path} can't be opened (${code ?? message}).`, {
      cause: error,
    });
  }
}
