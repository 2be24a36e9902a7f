import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;
const V1 = '/sys/fs/cgroup/memory';
const V2 = '/sys/fs/cgroup';
let created = 0;

/** A cgroup with a limit of memory, as a container has. Most machines let only root create one. */
export class MemoryGroup {
  private constructor(private readonly folder: string) {}

  /** @returns undefined where a cgroup can't be created */
  static create(limitMib: number): MemoryGroup | undefined {
    const name = `headgate-limits-${process.pid}-${created++}`;
    return (
      MemoryGroup.in(join(V1, name), 'memory.limit_in_bytes', limitMib) ??
      MemoryGroup.in(join(V2, name), 'memory.max', limitMib)
    );
  }

  private static in(folder: string, limitFile: string, limitMib: number): MemoryGroup | undefined {
    try {
      mkdirSync(folder);
    } catch {
      return undefined;
    }
    try {
      // A file of another version of cgroups does not exist, and can't be created.
      readFileSync(join(folder, limitFile));
      writeFileSync(join(folder, limitFile), String(limitMib * MIB));
      return new MemoryGroup(folder);
    } catch {
      rmdirSync(folder);
      return undefined;
    }
  }

  /** A command that runs the program of its remaining arguments in this group. */
  get command(): readonly string[] {
    return ['/bin/sh', '-c', `echo $$ > ${this.folder}/cgroup.procs && exec "$@"`, 'sh'];
  }

  /** Its processes must have ended. */
  remove(): void {
    rmdirSync(this.folder);
  }
}
