import { homedir } from 'node:os';
import { join } from 'node:path';
import { RpcConnectionError } from './errors.js';
import type { LibvirtTarget, SshTarget, TlsTarget } from './libvirt-target.js';

/** Drivers that libvirt runs in the client, or that have no daemon here. */
const CLIENT_DRIVERS = new Set([
  'test',
  'esx',
  'gsx',
  'vpx',
  'hyperv',
  'openvz',
  'phyp',
  'vbox',
  'vmwareplayer',
  'vmwarews',
  'vmwarefusion',
]);

/** Parameters for the way to the daemon: https://libvirt.org/uri.html#transport-configuration */
const SUPPORTED_PARAMETERS = new Set([
  'socket',
  'name',
  'netcat',
  'keyfile',
  'no_verify',
  'no_tty',
  'proxy',
  'mode',
  'pkipath',
]);
const UNSUPPORTED_PARAMETERS = new Set([
  'command',
  'auth',
  'sshauth',
  'known_hosts',
  'known_hosts_verify',
  'tls_priority',
  'no_sanity',
  'authfile',
]);

const SYSTEM_FOLDER = '/var/run/libvirt';

/**
 * Parses a connection URI (https://libvirt.org/uri.html).
 * @throws RpcConnectionError `unsupported` for transports and parameters that only libvirt's own client speaks
 */
export function parseLibvirtUri(uri: string, env: NodeJS.ProcessEnv = process.env): LibvirtTarget {
  const match =
    /^([a-z]+)(?:\+([a-z0-9]+))?:\/\/((?:[^@/?#]*@)?)(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?(\/[^?#]*)?(?:\?([^#]*))?$/i.exec(
      uri,
    );
  if (!match) throw unsupported(`The URI ${uri} can't be parsed.`);
  const [, driver = '', transport, userInfo = '', host = '', port, path = '/', query = ''] = match;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (UNSUPPORTED_PARAMETERS.has(name))
      throw unsupported(`The parameter ${name} is supported by libvirt's client only.`);
  }
  const mode = parameters.get('mode') ?? 'auto';
  if (!['auto', 'legacy', 'direct'].includes(mode)) throw unsupported(`The mode ${mode} is unknown.`);
  if (/embed/.test(path)) throw unsupported('An embedded driver runs in the client.');
  const isSession = path === '/session';
  const name = parameters.get('name') ?? nameOf(driver, path, parameters);
  if (transport === undefined && CLIENT_DRIVERS.has(driver)) {
    throw unsupported(`The driver ${driver} runs in the client.`);
  }
  if (transport === 'unix' || (transport === undefined && host === '')) {
    if (host !== '') throw unsupported('A unix socket has no host.');
    return {
      name,
      isSession,
      transport: {
        kind: 'unix',
        sockets: sockets({ driver, mode, isSession, parameters, env }),
        ...(isSession && !parameters.has('socket') && { daemons: daemonsOf(driver, mode) }),
      },
    };
  }
  if (transport === undefined || transport === 'tls') {
    return { name, isSession, transport: tlsTarget(host, port, parameters) };
  }
  if (transport !== 'ssh') throw unsupported(`The transport ${transport} is supported by libvirt's client only.`);
  return { name, isSession, transport: sshTarget({ userInfo, host, port, parameters, isSession }) };
}

interface SocketChoice {
  readonly driver: string;
  readonly mode: string;
  readonly isSession: boolean;
  readonly parameters: URLSearchParams;
  readonly env: NodeJS.ProcessEnv;
}

/** The socket of the driver's own daemon (virtqemud), and that of libvirtd. */
function sockets({ driver, mode, isSession, parameters, env }: SocketChoice): string[] {
  const given = parameters.get('socket');
  if (given !== null) return [given];
  const folder = isSession ? sessionFolder(env) : SYSTEM_FOLDER;
  const names = { direct: [`virt${driver}d-sock`], legacy: ['libvirt-sock'] };
  if (mode === 'direct') return names.direct.map((name) => join(folder, name));
  if (mode === 'legacy') return names.legacy.map((name) => join(folder, name));
  return [...names.direct, ...names.legacy].map((name) => join(folder, name));
}

function daemonsOf(driver: string, mode: string): string[] {
  if (mode === 'direct') return [`virt${driver}d`];
  return mode === 'legacy' ? ['libvirtd'] : [`virt${driver}d`, 'libvirtd'];
}

function sessionFolder(env: NodeJS.ProcessEnv): string {
  const runtime = env['XDG_RUNTIME_DIR'];
  if (runtime) return join(runtime, 'libvirt');
  return join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'libvirt');
}

const TLS_PORT = 16514;

function tlsTarget(host: string, port: string | undefined, parameters: URLSearchParams): TlsTarget {
  const bareHost = host.replace(/^\[(.*)\]$/, '$1');
  if (bareHost === '') throw unsupported('The URI names no host to connect to with TLS.');
  const pkiPath = parameters.get('pkipath');
  return {
    kind: 'tls',
    host: bareHost,
    port: port === undefined ? TLS_PORT : Number(port),
    ...(pkiPath !== null && { pkiPath }),
    skipCertificateCheck: parameters.get('no_verify') === '1',
  };
}

interface SshParts {
  readonly userInfo: string;
  readonly host: string;
  readonly port: string | undefined;
  readonly parameters: URLSearchParams;
  readonly isSession: boolean;
}

function sshTarget({ userInfo, host, port, parameters, isSession }: SshParts): SshTarget {
  const user = decodeURIComponent(userInfo.replace(/@$/, ''));
  const bareHost = host.replace(/^\[(.*)\]$/, '$1');
  // ssh would take it for an option.
  if (bareHost === '' || bareHost.startsWith('-') || user.startsWith('-')) {
    throw unsupported('The URI names no host that ssh can connect to.');
  }
  const given = parameters.get('socket');
  const netcat = parameters.get('netcat');
  const keyFile = parameters.get('keyfile');
  return {
    kind: 'ssh',
    host: bareHost,
    ...(port !== undefined && { port }),
    ...(user !== '' && { user }),
    ...(keyFile !== null && { keyFile }),
    skipHostKeyCheck: parameters.get('no_verify') === '1',
    proxy: proxyOf(parameters.get('proxy'), { usesNetcat: given !== null || netcat !== null, isSession }),
    netcat: netcat ?? 'nc',
    socket: given ?? `${SYSTEM_FOLDER}/libvirt-sock`,
  };
}

/** virt-ssh-helper takes no socket, and only it knows where the socket of a session is. */
function proxyOf(
  given: string | null,
  { usesNetcat, isSession }: { readonly usesNetcat: boolean; readonly isSession: boolean },
): SshTarget['proxy'] {
  if (given === 'netcat' || (given === null && usesNetcat)) return 'netcat';
  if (given === 'native' || (given === null && isSession)) return 'virt-ssh-helper';
  if (given === null || given === 'auto') return usesNetcat ? 'netcat' : 'auto';
  throw unsupported(`The proxy ${given} is unknown.`);
}

function nameOf(driver: string, path: string, parameters: URLSearchParams): string {
  if (driver === 'remote') return '';
  const others = [...parameters].filter(([name]) => !SUPPORTED_PARAMETERS.has(name));
  const query = new URLSearchParams(others).toString();
  return `${driver}://${path}${query === '' ? '' : `?${query}`}`;
}

const unsupported = (message: string): RpcConnectionError => new RpcConnectionError('unsupported', message);
