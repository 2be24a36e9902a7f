import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { RpcConnectionError } from '../errors.js';
import type { SshTarget } from '../libvirt-target.js';

const MAX_STDERR_CHARACTERS = 4096;

/**
 * The arguments of ssh. The last one is the command for the shell of the other machine, as libvirt's client runs it.
 */
export function sshArguments(target: SshTarget, name: string): string[] {
  return [
    '-T', '-e', 'none', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10',
    ...(target.skipHostKeyCheck ? ['-o', 'StrictHostKeyChecking=no'] : []),
    ...(target.port === undefined ? [] : ['-p', target.port]),
    ...(target.user === undefined ? [] : ['-l', target.user]),
    ...(target.keyFile === undefined ? [] : ['-i', target.keyFile]),
    '--', target.host, remoteCommand(target, name),
  ]; // prettier-ignore
}

/** The login shell of the other machine may be any, so that all of it is one quoted word for its `sh`. */
function remoteCommand({ proxy, netcat, socket }: SshTarget, name: string): string {
  const helper = `exec virt-ssh-helper ${quote(name)}`;
  const nc = quote(netcat);
  // Some versions of nc only end with their input if they get -q.
  const connect = `if ${nc} -q 2>&1 | grep "requires an argument" >/dev/null; then exec ${nc} -q0 -U ${quote(socket)}; else exec ${nc} -U ${quote(socket)}; fi`;
  const script = {
    'virt-ssh-helper': helper,
    netcat: connect,
    auto: `if command -v virt-ssh-helper >/dev/null 2>&1; then ${helper}; else ${connect}; fi`,
  }[proxy];
  return `sh -c ${quote(script)}`;
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * The standard input and output of ssh. When ssh ends, the stream ends with an error that contains what it printed.
 * @param program replaces ssh in tests
 */
export function connectOverSsh(target: SshTarget, name: string, program = 'ssh'): Duplex {
  const child = spawn(program, sshArguments(target, name), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C', LANGUAGE: 'C' },
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(-MAX_STDERR_CHARACTERS);
  });
  const stream = new Duplex({
    read: () => void child.stdout.resume(),
    write: (chunk: Buffer, _encoding, done) => void child.stdin.write(chunk, (error) => done(error && ended())),
    final: (done) => void child.stdin.end(done),
    destroy: (error, done) => {
      child.kill('SIGTERM');
      done(error);
    },
  });
  const ended = (): RpcConnectionError =>
    new RpcConnectionError('unreachable', `Cannot recv data: ${printed.trim() || 'ssh ended'}`);
  child.stdout.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) child.stdout.pause();
  });
  // The exit reports the reason.
  child.stdin.on('error', () => undefined);
  child.on('error', (cause) =>
    stream.destroy(new RpcConnectionError('unsupported', `${program} can't be run.`, { cause })),
  );
  child.on('close', () => stream.destroy(ended()));
  return stream;
}
