import { ClientError } from '../client/client-error.js';

export interface SshRun {
  /** Starts `headgate port-forward --stdio`, without the instance and the port. */
  readonly command: readonly string[];
  /** The ref of the VM. */
  readonly target: string;
  /** The name that ssh shows, and that the user's ssh_config may mention. */
  readonly host: string;
  readonly uid: string;
  readonly port: number;
  readonly knownHosts: string;
  readonly user?: string;
  /** Options of ssh, then a command. */
  readonly rest: readonly string[];
}

/** Letters that mean nothing to ssh and to its files. */
const PLAIN_HOST = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,100}\$?$/;

/** `[USER@]NAME`. @throws ClientError for a user that ssh could take for something else */
export function parseLogin(text: string): { user?: string; name: string } {
  const at = text.indexOf('@');
  if (at < 0) return { name: text };
  const user = text.slice(0, at);
  if (!USER.test(user)) throw ClientError.usage(`"${user}" is not the name of a user.`);
  return { user, name: text.slice(at + 1) };
}

export function sshArguments({ command, target, host, uid, port, knownHosts, user, rest }: SshRun): string[] {
  const alias = `headgate-${uid.replace(/[^A-Za-z0-9-]/g, '-')}`;
  return [
    '-o', `ProxyCommand=${proxyCommand([...command, target, String(port)])}`,
    '-o', `HostKeyAlias=${alias}`,
    '-o', `UserKnownHostsFile="${withoutTokens(knownHosts)}"`,
    '-o', 'GlobalKnownHostsFile=/dev/null',
    // Its names are no secrets, and a user may want to remove a line.
    '-o',
    'HashKnownHosts=no',
    // The key belongs to the VM, not to an address.
    '-o', 'CheckHostIP=no',
    ...(user === undefined ? [] : ['-l', user]),
    PLAIN_HOST.test(host) ? host : alias,
    ...rest,
  ]; // prettier-ignore
}

/** For the shell that ssh starts, after ssh has replaced its tokens. */
const proxyCommand = (words: readonly string[]): string => withoutTokens(words.map(quoted).join(' '));

const withoutTokens = (text: string): string => text.replaceAll('%', '%%');

/** One word of a POSIX shell. @throws ClientError for a line break, which ends an option of ssh */
function quoted(word: string): string {
  if (/[\n\r\0]/.test(word)) throw ClientError.usage('A line break can not be passed to ssh.');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
