import { readdirSync, readFileSync } from 'node:fs';

/** Other processes whose command line contains the text. */
export const processesWith = (text: string): string[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .map((pid) => {
      try {
        return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`;
      } catch {
        // It ended in the meantime.
        return '';
      }
    })
    .filter((line) => line.includes(text));
