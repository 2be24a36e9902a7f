import type { Command } from 'commander';
import type { Session } from '../session.js';

/** Gives an action the session of its run. */
export type Act = <Args extends unknown[]>(
  action: (session: Session, ...args: Args) => Promise<void>,
) => (...args: [...Args, Command]) => Promise<void>;

/** Adds commands to the program. */
export type AddCommands = (program: Command, act: Act) => void;

/** The options of a change. */
export const withChangeOptions = (command: Command): Command =>
  command
    .option('--dry-run', 'show the plan and change nothing')
    .option('-y, --yes', 'do not ask before an interruption or a deletion')
    .option('-w, --wait', 'follow the task until it ends');

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, values: readonly string[] = []): string[] => [...values, value];
