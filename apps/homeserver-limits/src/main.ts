import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { ConfigError, runUntilSignal } from '@headgate/nest-kit';
import { pino } from 'pino';
import { readCommandLine } from './command-line.js';
import { type Config, parseConfig } from './config/config.js';
import { LiveConfig } from './config/live-config.js';
import { LimitsApplication } from './limits-application.js';

const log = pino({ level: process.env.LOG_LEVEL ?? 'info' });

const overrideListen =
  (listen: string | undefined) =>
  (config: Config): Config =>
    listen === undefined ? config : { ...config, server: { ...config.server, listen } };

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(path, [`cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

async function run(): Promise<void> {
  const { config: path, listen, dataDir } = readCommandLine(process.argv.slice(2));
  const override = overrideListen(listen);
  const text = path === undefined ? '' : await readText(path);
  const config = new LiveConfig(override(parseConfig(text, path)), path, log, override);
  const application = await LimitsApplication.create({ config, dataDir, log });
  const { upstream } = config.current.gateway;
  if (upstream === undefined) {
    log.warn(
      'this is not a full homeserver: it serves the bounded endpoints from an embedded store, for evaluation; ' +
        'it accepts events of other servers into its rooms and sends them none',
    );
  }
  const { url, operatorUrl } = await application.listen();
  const mode = upstream === undefined ? 'embedded' : 'gateway';
  log.info({ url, mode, upstream, operator: operatorUrl }, 'homeserver-limits is listening');
  process.on('SIGHUP', () => void application.reload());
  runUntilSignal(application, { log: (line) => log.info(line) });
}

run().catch((error: unknown) => {
  if (error instanceof ConfigError) log.fatal(error.message);
  else log.fatal({ err: error }, 'homeserver-limits could not start');
  process.exit(1);
});
