import 'reflect-metadata';
import { ConfigError, runUntilSignal } from '@headgate/nest-kit';
import { pino } from 'pino';
import { HELP, readCommandLine } from './command-line.js';
import { type Config, parseConfig } from './config/config.js';
import { LiveConfig } from './config/live-config.js';
import { readNamedFile } from './config/read-file.js';
import { LimitsApplication } from './limits-application.js';
import { MainApplication } from './main-application.js';
import { runWorker } from './worker-application.js';
import { WORKER_COMMAND } from './workers/worker-process.js';

const LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const { LOG_LEVEL: level = 'info' } = process.env;
const log = pino({ level: LEVELS.includes(level) ? level : 'info' });

const overrideListen =
  (listen: string | undefined) =>
  (config: Config): Config =>
    listen === undefined ? config : { ...config, server: { ...config.server, listen } };

async function run(): Promise<void> {
  if (!LEVELS.includes(level)) throw new ConfigError('environment', [`LOG_LEVEL must be one of ${LEVELS.join(', ')}`]);
  const args = process.argv.slice(2);
  if (args[0] === 'replay') {
    const { replayCommand } = await import('./replay/replay-command.js');
    process.stdout.write(replayCommand(args.slice(1)));
    return;
  }
  if (args[0] === WORKER_COMMAND) return runWorker(log);
  const { config: path, listen, dataDir, help } = readCommandLine(args);
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const override = overrideListen(listen);
  const text = path === undefined ? '' : readNamedFile(path);
  const config = new LiveConfig(override(parseConfig(text, path)), path, log, override, text);
  const { workers } = config.current.server;
  const settings = { config, dataDir, log };
  const application = await (workers > 1 ? MainApplication.create(settings) : LimitsApplication.create(settings));
  const { upstream } = config.current.gateway;
  if (upstream === undefined) {
    log.warn(
      'this is not a full homeserver: it serves the bounded endpoints from an embedded store, for evaluation; ' +
        'it accepts events of other servers into its rooms and sends them none',
    );
  }
  // Before the log line, whose readers may send a signal immediately: a SIGHUP without a handler ends the process.
  process.on('SIGHUP', () => void application.reload());
  const { url, operatorUrl } = await application.listen();
  runUntilSignal(application, { log: (line) => log.info(line) });
  const mode = upstream === undefined ? 'embedded' : 'gateway';
  log.info(
    { url, mode, upstream, operator: operatorUrl, ...(workers > 1 && { workers }) },
    'homeserver-limits is listening',
  );
}

run().catch((error: unknown) => {
  if (error instanceof ConfigError) log.fatal(error.message);
  else log.fatal({ err: error }, 'homeserver-limits could not start');
  process.exit(1);
});
