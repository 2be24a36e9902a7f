import { EXIT_CODES } from '../exit-codes.js';
import { ClientError } from '../client/client-error.js';
import { printable } from './printable.js';
import type { Environment } from './environment.js';

/** The error of a program that the user has ended. */
export const interruption = (message = 'Interrupted.'): ClientError =>
  new ClientError('INTERRUPTED', message, EXIT_CODES.interrupted);

/** Whether there is someone who can be asked. */
export const canAsk = ({ stdin, stderr }: Environment): boolean => stdin.isTTY === true && stderr.isTTY === true;

/**
 * Asks a question that only "y" or "yes" affirms.
 * @throws ClientError when Ctrl-C or the end of the input is the answer
 */
export async function ask(environment: Environment, question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const { stdin, stderr, interrupted } = environment;
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      const end = () => reject(interruption('Interrupted. Nothing was changed.'));
      lines.once('SIGINT', end);
      lines.once('close', end);
      interrupted.addEventListener('abort', end, { once: true });
      lines.question(`${printable(question)} [y/N] `, resolve);
    });
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}
