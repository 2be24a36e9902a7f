import { spawn } from 'node:child_process';
import { englishEnvironment } from '../programs/run-program.js';
import type { SessionProcess } from './virsh-session.js';

/** Starts a virsh that reads commands from its standard input, as from a terminal. */
export const spawnVirshSession = (options: readonly string[]): SessionProcess =>
  spawn('virsh', options, {
    stdio: 'pipe',
    env: {
      ...englishEnvironment(),
      // When it ends, virsh writes the lines that it has read to a history in this folder, with their secrets.
      XDG_CACHE_HOME: '/dev/null',
      VIRSH_HISTSIZE: '0',
      // The usual meaning of all characters and no escape sequences, whatever this user has configured.
      INPUTRC: '/dev/null',
      TERM: 'dumb',
    },
  });
