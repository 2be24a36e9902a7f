import type { IncomingMessage } from 'node:http';
import { LineSplitter } from './line-splitter.js';

export interface LineListener {
  /** Called with every chunk, also one that ends no line. */
  onBytes(): void;
  /** What it throws ends the reading. */
  onLine(line: string): void;
}

/** Reads a stream to its end, line by line. Fails when it is cut. */
export function readLines(connection: IncomingMessage, { onBytes, onLine }: LineListener): Promise<void> {
  const lines = new LineSplitter();
  return new Promise((resolve, reject) => {
    connection.on('data', (chunk: Buffer) => {
      onBytes();
      try {
        for (const line of lines.push(chunk)) onLine(line);
      } catch (error) {
        reject(error);
      }
    });
    connection.once('end', resolve);
    connection.once('error', reject);
    connection.once('close', () => reject(new Error('the watch was cut')));
  });
}
