import 'reflect-metadata';
import { join } from 'node:path';
import { Accounts } from '@headgate/login';
import { ConfigError, ListenAddress, runUntilSignal } from '@headgate/nest-kit';
import { pino } from 'pino';
import { claimDataDir } from './composition/claim-data-dir.js';
import { chooseContexts } from './composition/choose-contexts.js';
import { parseCommandLine, USAGE } from './config/command-line.js';
import { loadSettings } from './config/load-config.js';
import { createService } from './create-app.js';
import { describeLogin, proposeLogin } from './login/describe-login.js';
import { describeTrust } from './identity/describe-trust.js';
import { LocalTrust } from './identity/local-trust.js';

/** The Kubernetes client and the embedded store need this version of Node. */
const MIN_NODE_VERSION = 24;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  if (Number(process.versions.node.split('.')[0]) < MIN_NODE_VERSION) {
    throw new ConfigError('Node', [
      `this service needs Node ${MIN_NODE_VERSION} or newer; npm start uses the right one`,
    ]);
  }
  const options = parseCommandLine(process.argv.slice(2));
  if (options.help) return print(USAGE);
  const settings = loadSettings(options, process.env);
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' }, pino.destination(2));
  const lock = claimDataDir(settings.dataDir);
  const contexts = await chooseContexts({ options, settings, log });
  const pageDir = process.env['SVC_PAGE_DIR'] ?? join(import.meta.dirname, '../../web-console/dist');
  const service = await createService({ settings, contexts, log, pageDir });
  await service.start();
  const close = async (): Promise<void> => {
    await service.close();
    lock.release();
  };
  runUntilSignal({ close }, { log: (line) => log.info(line) });
  for (const note of contexts.notes) print(note);
  const url = ListenAddress.parse(settings.listen).urlOn(service.port(), settings.tls ? 'https' : 'http');
  const first = settings.login && service.app.get(Accounts).firstSecret();
  const sentences = settings.login
    ? describeLogin(settings.login, first, url)
    : [...describeTrust(service.app.get(LocalTrust), url), ...proposeLogin(settings)];
  for (const sentence of sentences) print(sentence);
  print(`Headgate serves ${url}`);
}

/** One sentence for a known cause of a failed start, a stack trace for any other. */
function explain(error: unknown): string {
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (error instanceof ConfigError) return error.message;
  if (code === 'EADDRINUSE')
    return `${address}:${port} is in use by another program; choose another with --listen HOST:PORT.`;
  if (code === 'EACCES')
    return `Listening on ${address}:${port} is not permitted; choose a port above 1023 with --listen HOST:PORT.`;
  if (code === 'EADDRNOTAVAIL')
    return `${address} is not an address of this machine; choose another with --listen HOST:PORT.`;
  if (error instanceof Error && /registry/.test(error.message)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
