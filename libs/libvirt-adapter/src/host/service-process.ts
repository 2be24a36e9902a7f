import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process, as others on the same machine can find it. */
export interface ServiceProcess {
  /** Of the running kernel and the process namespace, in which a process ID is unique; 12 hexadecimal digits. */
  readonly machine: string;
  readonly pid: number;
  /** Ticks between the start of the machine and that of the process: process IDs are used again. */
  readonly start: number;
}

const START_FIELD = 22;

/** This process. Where the kernel does not describe it, no other process finds it, and only its signs of life count. */
export function ownProcess(): ServiceProcess {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const id = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    const machine = createHash('sha256').update(id).digest('hex').slice(0, 12);
    return { machine, pid: process.pid, start: startOf(process.pid) ?? 0 };
  } catch {
    return { machine: randomBytes(6).toString('hex'), pid: process.pid, start: 0 };
  }
}

/** Whether a process is known to have ended. One of another machine is not. */
export function hasEnded({ machine, pid, start }: ServiceProcess, own: ServiceProcess): boolean {
  if (machine !== own.machine) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user can't be signaled, but exists.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const found = startOf(pid);
  return found !== undefined && found !== start;
}

function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD - 3]);
  } catch {
    return undefined;
  }
}
