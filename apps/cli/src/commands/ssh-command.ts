import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { formatRef } from '../instances/instance.js';
import { ProgramEnded } from '../ports/program-ended.js';
import { findPorts } from '../ports/guest-port.js';
import { parseLogin, sshArguments } from '../ports/ssh-arguments.js';
import type { Session } from '../session.js';
import type { AddCommands } from './command-context.js';
import { parsePort } from './parse-option.js';

const SSH_PORT = 22;

/** ssh. */
export const addSshCommand: AddCommands = (program, act) => {
  program
    .command('ssh')
    .summary('log in to a VM with ssh')
    .description(
      'Runs the ssh of this machine over a connection to a port of the guest. Arguments behind -- are for ssh: its options, then a command. Host keys are kept by the identity of the VM, in a file of their own: a new VM with the name of an old one is another host.',
    )
    .argument('<instance>', '[USER@]INSTANCE')
    .argument('[arguments...]', 'for ssh, behind --')
    .option('-p, --port <port>', 'the port of the guest', parsePort, SSH_PORT)
    .action(act(ssh));
};

async function ssh(
  session: Session,
  destination: string,
  args: readonly string[] | undefined,
  { port }: { readonly port: number },
): Promise<void> {
  const { environment, configFile, options } = session;
  if (port === 0) throw ClientError.usage('The port must be from 1 to 65535.');
  const { user, name } = parseLogin(destination);
  const { address, uid } = await findPorts(await session.api(), name);
  const folder = dirname(configFile.path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const words = sshArguments({
    command: [...environment.command, ...serverOptions(options), 'port-forward', '--stdio'],
    target: formatRef(address),
    host: address.name,
    uid,
    port,
    knownHosts: join(folder, 'known_hosts'),
    ...(user !== undefined && { user }),
    rest: args ?? [],
  });
  await run(words, session);
}

/** The settings of this run, for the one that ssh starts. The token is in the environment or the file, as here. */
const serverOptions = ({ context, server, cacert, insecureHttp }: Session['options']): string[] => [
  ...(context === undefined ? [] : ['--context', context]),
  ...(server === undefined ? [] : ['--server', server]),
  ...(cacert === undefined ? [] : ['--cacert', cacert]),
  ...(insecureHttp ? ['--insecure-http'] : []),
];

async function run(args: readonly string[], { environment }: Session): Promise<void> {
  // ssh runs its ProxyCommand in the shell of the user, whose quoting is only known for this one.
  const child = spawn('ssh', args, { stdio: 'inherit', env: { ...environment.env, SHELL: '/bin/sh' } });
  const interrupt = (): void => void child.kill('SIGINT');
  environment.interrupted.addEventListener('abort', interrupt, { once: true });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', (error) => {
      const message = `ssh can not be started: ${error.message}. Install the client of OpenSSH.`;
      reject(new ClientError('SSH_NOT_FOUND', message, EXIT_CODES.failed));
    });
    child.once('close', (status, signal) => resolve(status ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  environment.interrupted.removeEventListener('abort', interrupt);
  if (code !== 0) throw new ProgramEnded(code);
}
