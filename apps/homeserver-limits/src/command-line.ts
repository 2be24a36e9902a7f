import { parseArgs } from 'node:util';
import { ConfigError, ListenAddress } from '@headgate/nest-kit';

export interface CommandLine {
  config?: string;
  listen?: string;
  dataDir: string;
}

/** @throws ConfigError that names the invalid argument */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { config, listen, 'data-dir': dataDir = 'homeserver-limits-data' } = read(args);
  if (listen !== undefined && !ListenAddress.isValid(listen)) {
    throw new ConfigError('command line', ['--listen must be HOST:PORT']);
  }
  return { dataDir, ...(config !== undefined && { config }), ...(listen !== undefined && { listen }) };
}

function read(args: readonly string[]) {
  try {
    const options = { config: { type: 'string' }, listen: { type: 'string' }, 'data-dir': { type: 'string' } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new ConfigError('command line', [error instanceof Error ? error.message : String(error)]);
  }
}
