import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';

/** The machine behind a `qemu+ssh://` URI, in the words of ssh's command line. */
export interface SshTarget {
  readonly destination: string;
  readonly port?: string;
}

/** @returns undefined for a URI of this machine or of another transport */
export function sshTargetOf(uri: string): SshTarget | undefined {
  if (!/^[a-z]+\+ssh:\/\//.test(uri)) return undefined;
  const { username, hostname, port } = new URL(uri);
  const user = decodeURIComponent(username);
  // What begins with "-" would be an option to ssh.
  if (hostname === '' || hostname.startsWith('-') || user.startsWith('-')) return undefined;
  return { destination: user === '' ? hostname : `${user}@${hostname}`, ...(port !== '' && { port }) };
}

/** Whether libvirt runs on another machine than this process. */
export function isRemote(uri: string): boolean {
  const match = /^[a-z]+(?:\+([a-z]+))?:\/\/([^/?]*)/.exec(uri);
  return match !== null && match[2] !== '' && match[1] !== 'unix';
}

export const sshForwardArguments = ({ destination, port }: SshTarget, to: { host: string; port: number }): string[] => [
  '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10',
  ...(port === undefined ? [] : ['-p', port]),
  '-W', `${to.host}:${to.port}`,
  '--', destination,
]; // prettier-ignore

/** A TCP connection made on the other machine, through ssh's standard input and output. */
export function sshForward(target: SshTarget, to: { host: string; port: number }): Duplex {
  const child = spawn('ssh', sshForwardArguments(target, to), { stdio: ['pipe', 'pipe', 'ignore'] });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  child.on('error', (cause) =>
    stream.destroy(new DomainError('BACKEND_UNREACHABLE', 'ssh can not be run.', { cause })),
  );
  stream.on('close', () => child.kill('SIGTERM'));
  return stream;
}
