import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';

/** The machine behind a `qemu+ssh://` URI, as arguments for ssh. */
export interface SshTarget {
  readonly destination: string;
  readonly port?: string;
}

/** @returns undefined for a local URI or another transport */
export function sshTargetOf(uri: string): SshTarget | undefined {
  if (!/^[a-z]+\+ssh:\/\//.test(uri)) return undefined;
  const { username, hostname, port } = new URL(uri);
  const user = decodeURIComponent(username);
  // ssh would read a leading "-" as an option.
  if (hostname === '' || hostname.startsWith('-') || user.startsWith('-')) return undefined;
  return { destination: user === '' ? hostname : `${user}@${hostname}`, ...(port !== '' && { port }) };
}

export const sshForwardArguments = ({ destination, port }: SshTarget, to: { host: string; port: number }): string[] => [
  '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10',
  ...(port === undefined ? [] : ['-p', port]),
  '-W', `${to.host}:${to.port}`,
  '--', destination,
]; // prettier-ignore

/** Opens a TCP connection on the remote machine, carried by ssh's standard input and output. */
export function sshForward(target: SshTarget, to: { host: string; port: number }): Duplex {
  const child = spawn('ssh', sshForwardArguments(target, to), { stdio: ['pipe', 'pipe', 'ignore'] });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  child.on('error', (cause) =>
    stream.destroy(new DomainError('BACKEND_UNREACHABLE', "ssh can't be run: install the OpenSSH client.", { cause })),
  );
  stream.on('close', () => child.kill('SIGTERM'));
  return stream;
}
