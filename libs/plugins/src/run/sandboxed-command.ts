import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The most memory for the objects of a plugin. */
const MAX_HEAP_MIB = 128;
const MAX_DATA_BYTES = 1024 ** 3;
const MAX_OPEN_FILES = 256;
const MAX_FILE_BYTES = 64 * 1024 ** 2;

export interface SandboxedCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface PluginPaths {
  /** The folder with its files, which it may read. */
  readonly folder: string;
  readonly entry: string;
  /** A folder of its own, which it may read and write. */
  readonly workFolder: string;
}

/**
 * The command that runs a plugin. It inherits no environment. Node's permission model keeps it from reading and writing
 * other files, and from starting programs, workers and native code. On Linux, the tools of util-linux limit its
 * resources and end it when the service ends in any way.
 */
export function sandboxedCommand({ folder, entry, workFolder }: PluginPaths, findTool = findProgram): SandboxedCommand {
  const node = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${folder}/*`,
    `--allow-fs-read=${workFolder}/*`,
    `--allow-fs-write=${workFolder}/*`,
    `--max-old-space-size=${MAX_HEAP_MIB}`,
    join(folder, entry),
  ];
  const [setpriv, prlimit] = [findTool('setpriv'), findTool('prlimit')];
  const words = [
    ...(setpriv === undefined ? [] : [setpriv, '--no-new-privs', '--pdeathsig', 'KILL', '--']),
    ...(prlimit === undefined ? [] : limits(prlimit)),
    ...node,
  ];
  const [program = process.execPath, ...args] = words;
  return { program, args, env: { HOME: workFolder, TMPDIR: workFolder, LANG: 'C.UTF-8', TZ: 'UTC' } };
}

const limits = (prlimit: string): string[] => [
  prlimit,
  '--core=0',
  `--data=${MAX_DATA_BYTES}`,
  `--fsize=${MAX_FILE_BYTES}`,
  `--nofile=${MAX_OPEN_FILES}`,
  '--',
];

/** The path of a program of the system. */
export function findProgram(name: string): string | undefined {
  return ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
