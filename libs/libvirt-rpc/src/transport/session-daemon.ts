import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { RpcConnectionError } from '../errors.js';
import type { UnixTarget } from '../libvirt-target.js';
import { systemTimers, type Timers } from '../timers.js';
import { connectUnixSocket } from './unix-socket.js';

export interface SessionOptions {
  readonly signal?: AbortSignal;
  readonly timers?: Timers;
  readonly env?: NodeJS.ProcessEnv;
  /** The daemons of root are those of the system, which root starts otherwise. */
  readonly isRoot?: boolean;
}

/** Folders in which libvirt is installed, and which are not in the PATH of every user. */
const DAEMON_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
/** The daemon ends after this many seconds without clients, as one that libvirt's client has started. */
const IDLE_SECONDS = 120;
const RETRY_MS = 50;
/**
 * A daemon that ends immediately may do so because another client has started one at the same moment, which soon
 * listens.
 */
const RETRIES_AFTER_EXIT = 40;
/**
 * The variables that libvirt's client passes on. The others of this process may be secrets, and the daemon would keep
 * them.
 */
const PASSED_ON = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'];

/**
 * Connects to the daemon of the user's session, and starts one if there is none.
 * @throws RpcConnectionError as `connectUnixSocket`, if no daemon can be started or none listens before the signal is
 *   aborted
 */
export async function connectToSession(target: UnixTarget, options: SessionOptions = {}): Promise<Duplex> {
  const { signal, timers = systemTimers } = options;
  let attempt = await connect(target, signal);
  if (!(attempt instanceof RpcConnectionError) || attempt.failure !== 'unreachable') return unwrap(attempt);
  const daemon = await startDaemon(target, options);
  if (!daemon) throw attempt;
  for (let left = RETRIES_AFTER_EXIT; left > 0 && !signal?.aborted; left -= Number(daemon.hasExited)) {
    await new Promise<void>((resolve) => void timers.after(RETRY_MS, resolve));
    attempt = await connect(target, signal);
    if (!(attempt instanceof RpcConnectionError) || attempt.failure !== 'unreachable') break;
  }
  return unwrap(attempt);
}

function unwrap(attempt: Duplex | RpcConnectionError): Duplex {
  if (attempt instanceof RpcConnectionError) throw attempt;
  return attempt;
}

async function connect(target: UnixTarget, signal?: AbortSignal): Promise<Duplex | RpcConnectionError> {
  try {
    return await connectUnixSocket(target, signal);
  } catch (error) {
    if (error instanceof RpcConnectionError) return error;
    throw error;
  }
}

interface Daemon {
  hasExited: boolean;
}

/**
 * The daemons that this process has started and that run, by their sockets: connections that open together share one.
 */
const STARTED = new Map<string, Daemon>();

/** @returns undefined if there is none that could be started */
async function startDaemon(
  { daemons = [], sockets }: UnixTarget,
  { env = process.env, isRoot = process.geteuid?.() === 0 }: SessionOptions,
): Promise<Readonly<Daemon> | undefined> {
  if (isRoot || env['LIBVIRT_AUTOSTART'] === '0') return undefined;
  const program = await findProgram(daemons, env['PATH']);
  if (program === undefined) return undefined;
  const key = sockets.join(':');
  const started = STARTED.get(key);
  if (started) return started;
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  const child = spawn(program, [`--timeout=${IDLE_SECONDS}`], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env: { ...passedOn, LC_ALL: 'C' },
  });
  const daemon = { hasExited: false };
  STARTED.set(key, daemon);
  const onExit = (): void => {
    daemon.hasExited = true;
    STARTED.delete(key);
  };
  child.on('error', onExit).on('exit', onExit).unref();
  return daemon;
}

async function findProgram(names: readonly string[], path = ''): Promise<string | undefined> {
  const folders = [...path.split(':').filter((folder) => folder.startsWith('/')), ...DAEMON_FOLDERS];
  for (const name of names) {
    for (const folder of folders) {
      const file = join(folder, name);
      const isExecutable = await access(file, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isExecutable) return file;
    }
  }
  return undefined;
}
