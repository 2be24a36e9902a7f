import { DomainError, plainText } from '@headgate/domain-contracts';
import type { ProgramEnd } from './program-output.js';

const MAX_QUOTED_CHARS = 300;
/** Exit codes of a shell, `chroot` and some runtimes for a program that is missing, or that can't be run. */
const CANT_RUN: readonly (number | undefined)[] = [126, 127];
/** The texts of runc and crun. */
const NO_EXECUTABLE = /executable file .*not found|no such file or directory/i;
const MISSING =
  /: (?:No such file or directory|Not a directory|Too many levels of symbolic links|File name too long)$/m;
const DENIED = /: Permission denied$/m;

/** The error of a program that has ended; undefined after success. */
export function errorOfProgram(name: string, { failure, exitCode, errors }: ProgramEnd): DomainError | undefined {
  if (exitCode === 0) return undefined;
  if (CANT_RUN.includes(exitCode) || (failure && NO_EXECUTABLE.test(failure.message))) return lacks(name, failure);
  if (failure) return failure;
  if (exitCode === undefined)
    return new DomainError('BACKEND_FAILED', `The cluster did not report how ${name} has ended in the container.`);
  if (MISSING.test(errors)) return new DomainError('FILE_NOT_FOUND', 'The container has no such file.');
  if (DENIED.test(errors))
    return new DomainError('WRONG_STATE', 'The user of the container may not read this: permission denied.');
  const said = plainText(errors.trim(), MAX_QUOTED_CHARS) || `exit code ${exitCode}`;
  return new DomainError('BACKEND_FAILED', `The program ${name} has failed in the container: ${said}`);
}

/** Images such as distroless ones have no programs but their own. */
export const lacks = (name: string, cause?: unknown): DomainError =>
  new DomainError(
    'NOT_SUPPORTED',
    `The files of this container can't be read: it has no program ${name}. The programs find, stat, readlink and cat of busybox or coreutils are needed.`,
    { cause },
  );
