import { constants, openSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';
import { DomainError } from '@headgate/domain-contracts';

/**
 * Opens a terminal device as raw bytes both ways.
 * @throws DomainError BACKEND_FAILED when it can't be opened
 */
export function openTerminal(path: string): Duplex {
  try {
    const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
    // Each stream closes its own descriptor.
    const input = new ReadStream(openSync(path, flags));
    const output = new WriteStream(openSync(path, flags));
    // No echo, no line editing, no signals: the guest does all that.
    input.setRawMode(true);
    return terminalStream(input, output);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DomainError('BACKEND_FAILED', `The VM's serial console ${path} can't be opened (${code ?? message}).`, {
      cause: error,
    });
  }
}

function terminalStream(input: ReadStream, output: WriteStream): Duplex {
  const stream = new Duplex({
    read: () => void input.resume(),
    write: (chunk: Buffer, _encoding, done) => void output.write(chunk, () => done()),
    destroy: (error, done) => {
      input.destroy();
      output.destroy();
      done(error);
    },
  });
  input.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) input.pause();
  });
  // The other side closes when the machine stops: an end like any other.
  for (const side of [input, output]) side.on('error', () => stream.destroy()).on('close', () => stream.destroy());
  return stream;
}
