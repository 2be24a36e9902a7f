import { parseArgs } from 'node:util';
import { ConfigError, ListenAddress } from '@headgate/nest-kit';

export interface CommandLine {
  config?: string;
  listen?: string;
  dataDir: string;
  help: boolean;
}

export const HELP = `Usage: homeserver-limits [--config FILE] [--listen HOST:PORT] [--data-dir DIRECTORY]

  --config FILE           the configuration, TOML; every setting has a default
  --listen HOST:PORT      overrides server.listen; port 0 is a free port
  --data-dir DIRECTORY    where state is stored, ./homeserver-limits-data by default
  --help                  prints this text

homeserver-limits replay --help: which recorded requests other rules would refuse.

LOG_LEVEL sets the level of the JSON log lines: trace, debug, info (the default), warn, error, fatal or silent.
`;

/** @throws ConfigError that names the invalid argument */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { config, listen, 'data-dir': dataDir = 'homeserver-limits-data', help = false } = read(args);
  if (listen !== undefined && !ListenAddress.isValid(listen)) {
    throw new ConfigError('command line', ['--listen must be HOST:PORT']);
  }
  return { dataDir, help, ...(config !== undefined && { config }), ...(listen !== undefined && { listen }) };
}

function read(args: readonly string[]) {
  try {
    const options = {
      config: { type: 'string' },
      listen: { type: 'string' },
      'data-dir': { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new ConfigError('command line', [error instanceof Error ? error.message : String(error)]);
  }
}
