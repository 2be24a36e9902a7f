import { spawn } from 'node:child_process';
import { openConsole } from '../client/console-socket.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { findAddress } from '../instances/find-instance.js';
import { consolePath, type InstanceAddress, type InstanceKind } from '../instances/instance.js';
import type { Session } from '../session.js';
import { attachTerminal } from '../terminal/attached-terminal.js';
import { openVncDoor } from '../terminal/vnc-door.js';
import type { AddCommands } from './command-context.js';
import { parsePort } from './parse-option.js';
import { kindOption } from './read-commands.js';

interface Flags {
  readonly kind?: InstanceKind;
  readonly vnc?: boolean;
  readonly port?: number;
  readonly viewer?: string;
}

/** console. */
export const addConsoleCommands: AddCommands = (program, act) => {
  program
    .command('console')
    .summary('use the serial console of a VM, or a shell in a container')
    .description(
      'Connects this terminal with the serial console of a VM, or with a shell in a container; Ctrl-] leaves it. With --vnc, opens a port of this machine for one connection of a VNC viewer.',
    )
    .argument('<instance>')
    .addOption(kindOption())
    .option('--vnc', 'the graphical console, for a viewer')
    .option('--port <port>', 'the port for the viewer; by default a free one', parsePort)
    .option('--viewer <program>', 'start this viewer with the address as its argument')
    .action(act(openFor));
};

async function openFor(session: Session, name: string, flags: Flags): Promise<void> {
  const { stdin, stdout } = session.environment;
  if (!flags.vnc && (flags.port !== undefined || flags.viewer !== undefined))
    throw ClientError.usage('--port and --viewer are for --vnc only.');
  if (!flags.vnc && !(stdin.isTTY && stdout.isTTY))
    throw ClientError.usage('A serial console needs a terminal for its input and its output.');
  const api = await session.api();
  const address = await findAddress(api, name, flags.kind);
  if (flags.vnc) return openScreen(session, address, flags);
  const socket = await open(session, 'tty', address);
  session.output.note(`Connected to ${address.name}. Ctrl-] leaves the console.`);
  await attachTerminal(socket, session.environment, { resizes: address.kind === 'ct' });
}

const open = async (session: Session, console: 'tty' | 'vnc', address: InstanceAddress) =>
  openConsole((await session.api()).http, consolePath(console, address), {
    context: address.context,
    kind: address.kind,
  });

async function openScreen(session: Session, address: InstanceAddress, flags: Flags): Promise<void> {
  const { interrupted } = session.environment;
  const door = await openVncDoor(flags.port ?? 0, () => open(session, 'vnc', address)).catch((error: unknown) => {
    throw new ClientError('PORT_NOT_FREE', `The port can not be opened: ${String(error)}`, EXIT_CODES.failed);
  });
  const target = `127.0.0.1::${door.port}`;
  interrupted.addEventListener('abort', () => door.close(), { once: true });
  session.output.write(`${target}\n`);
  session.output.note(`Connect a VNC viewer once, such as: vncviewer ${target}. Ctrl-C ends it.`);
  if (flags.viewer !== undefined)
    spawn(flags.viewer, [target], { stdio: ['ignore', 'ignore', 'inherit'] }).on('error', (error) => {
      session.output.note(`The viewer ${flags.viewer} can not be started: ${error.message}`);
      door.close();
    });
  await door.closed;
}
