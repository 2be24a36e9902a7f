import 'reflect-metadata';
import { join } from 'node:path';
import { ConfigError, runUntilSignal } from '@headgate/nest-kit';
import { pino } from 'pino';
import { chooseContexts } from './composition/choose-contexts.js';
import { parseCommandLine, USAGE } from './config/command-line.js';
import { loadSettings } from './config/load-config.js';
import { createService } from './create-app.js';

/** The Kubernetes client and the embedded store need it. */
const OLDEST_NODE = 24;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new ConfigError('Node', [`this service needs Node ${OLDEST_NODE} or newer; npm start brings it along`]);
  }
  const options = parseCommandLine(process.argv.slice(2));
  if (options.help) return say(USAGE);
  const settings = loadSettings(options, process.env);
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' }, pino.destination(2));
  const contexts = await chooseContexts(options, settings, log);
  const pageDir = process.env['SVC_PAGE_DIR'] ?? join(import.meta.dirname, '../../web-console/dist');
  const service = await createService({ settings, contexts, log, pageDir });
  const { host, port } = splitListen(settings.listen);
  await service.listen(host, port);
  runUntilSignal(service, { log: (line) => log.info(line) });
  for (const note of contexts.notes) say(note);
  const urlHost = ['0.0.0.0', '::'].includes(host)
    ? '127.0.0.1'
    : settings.listen.slice(0, settings.listen.lastIndexOf(':'));
  say(`Headgate serves http://${urlHost}:${service.port()}`);
}

function splitListen(listen: string): { host: string; port: number } {
  const at = listen.lastIndexOf(':');
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}

/** One sentence for what stops the start; a stack only for what nobody foresaw. */
function explain(error: unknown): string {
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (error instanceof ConfigError) return error.message;
  if (code === 'EADDRINUSE')
    return `${address}:${port} is in use by another program; choose another with --listen HOST:PORT.`;
  if (code === 'EACCES')
    return `Listening on ${address}:${port} is not permitted; choose a port above 1023 with --listen HOST:PORT.`;
  if (code === 'EADDRNOTAVAIL')
    return `${address} is no address of this machine; choose another with --listen HOST:PORT.`;
  if (error instanceof Error && /registry/.test(error.message)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
