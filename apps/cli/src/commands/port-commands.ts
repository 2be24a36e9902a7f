import { isIP, type Socket } from 'node:net';
import { InvalidArgumentError } from 'commander';
import { ClientError } from '../client/client-error.js';
import { findAddress } from '../instances/find-instance.js';
import { findPorts, openGuestPort } from '../ports/guest-port.js';
import { joinPort, leavePort } from '../ports/join-port.js';
import { PortListener } from '../ports/port-listener.js';
import { collectPortPairs, type PortPair } from '../ports/port-pair.js';
import type { Session } from '../session.js';
import { errorLine } from '../terminal/output.js';
import { interruption } from '../terminal/prompt.js';
import { belongsToUser } from '../terminal/vnc-door.js';
import type { AddCommands } from './command-context.js';

const LOOPBACK = '127.0.0.1';

interface Flags {
  readonly address: string;
  readonly allUsers?: boolean;
  readonly stdio?: boolean;
}

/** port-forward. */
export const addPortCommands: AddCommands = (program, act) => {
  program
    .command('port-forward')
    .summary('connect ports of this machine with ports of a VM')
    .description(
      'Opens ports of this machine whose connections lead to TCP ports of the guest, until Ctrl-C. With --stdio, connects standard input and output with one port, for ProxyCommand of ssh.',
    )
    .argument('<instance>')
    .argument('<ports...>', '[LOCAL:]PORT; :PORT chooses a free local port', collectPortPairs)
    .option('--address <ip>', 'the address of this machine that the ports are opened on', parseIp, LOOPBACK)
    .option('--all-users', 'accept connections of other users of this machine')
    .option('--stdio', 'use standard input and output instead of a local port')
    .action(act(forward));
};

function parseIp(value: string): string {
  if (isIP(value) === 0) throw new InvalidArgumentError('It must be an IP address of this machine.');
  return value;
}

async function forward(session: Session, name: string, pairs: readonly PortPair[], flags: Flags): Promise<void> {
  if (flags.stdio) return forwardStdio(session, name, pairs);
  const api = await session.api();
  const { address } = await findPorts(api, name);
  const { interrupted } = session.environment;
  const note = (port: number) => (error: unknown) =>
    session.output.note(
      `A connection to port ${port}: ${error instanceof ClientError ? errorLine(error) : String(error)}`,
    );
  const listeners: PortListener[] = [];
  try {
    for (const { local, guest } of pairs) {
      const listener = await PortListener.open({
        address: flags.address,
        localPort: local,
        open: () => openGuestPort(api, address, guest),
        isAllowed:
          flags.allUsers || flags.address !== LOOPBACK ? () => true : (socket: Socket) => belongsToUser(socket),
        onFailure: note(guest),
      });
      listeners.push(listener);
      const host = isIP(flags.address) === 6 ? `[${flags.address}]` : flags.address;
      session.output.write(`${host}:${listener.port} leads to port ${guest} of ${address.name}\n`);
    }
    if (!interrupted.aborted)
      await new Promise((resolve) => interrupted.addEventListener('abort', resolve, { once: true }));
  } finally {
    for (const listener of listeners) listener.close();
  }
  throw interruption();
}

async function forwardStdio(session: Session, name: string, pairs: readonly PortPair[]): Promise<void> {
  const [pair, ...others] = pairs;
  if (!pair || others.length > 0 || pair.local !== pair.guest)
    throw ClientError.usage('--stdio connects with exactly one port, without a local one.');
  const { stdin, stdout, interrupted } = session.environment;
  const api = await session.api();
  const socket = await openGuestPort(api, await findAddress(api, name, 'vm'), pair.guest);
  interrupted.addEventListener('abort', () => socket.terminate(), { once: true });
  try {
    // Standard output can not be ended alone, so the end of the guest's output ends the program, as with nc.
    await joinPort(socket, { input: stdin, output: stdout, ended: () => leavePort(socket), abort: () => undefined });
  } catch (error) {
    throw interrupted.aborted ? interruption() : error;
  } finally {
    stdin.destroy();
  }
}
