import { constants } from 'node:fs';
import { chmod, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskIo } from '../domain-xml/domain-spec.js';
import { runProgram, type RunProgram } from '../programs/run-program.js';

export interface DiskIoProbeOptions {
  readonly run?: RunProgram;
  /** Creates a private folder for the probe. */
  readonly createTemporaryFolder: () => Promise<string>;
  readonly isRoot?: boolean;
}

/**
 * `open` creates a file without a name, which vanishes when it is closed. Node has no constant for this flag of Linux.
 */
const O_UNNAMED_FILE = 0o20000000 | constants.O_DIRECTORY;
const PROBE_BYTES = 4096;
const PROBE_TIMEOUT_MS = 10_000;
const UNPRIVILEGED_ID = 65_534;

/**
 * Finds the fastest way to access disk images that works on this machine: file systems may refuse direct access, and
 * kernels, containers and QEMU builds may lack io_uring. A domain with a mode that does not work would not start.
 */
export async function probeDiskIo(imageFolder: string, options: DiskIoProbeOptions): Promise<DiskIo> {
  const [isDirect, hasIoUring] = await Promise.all([canOpenDirectly(imageFolder), canUseIoUring(options)]);
  const io = hasIoUring ? 'io_uring' : isDirect ? 'native' : undefined;
  return { ...(isDirect && { cache: 'none' as const }), ...(io !== undefined && { io }) };
}

/** The mode for the images of a storage pool, which is probed once. */
export class DiskIoProbe {
  private result?: Promise<DiskIo>;

  constructor(
    private readonly pool: { path(): Promise<string> },
    private readonly options: DiskIoProbeOptions & { readonly isRemote: boolean },
  ) {}

  /** Never fails: without a result, QEMU chooses. Another machine can't be probed. */
  probe(): Promise<DiskIo> {
    if (this.options.isRemote) return Promise.resolve({});
    this.result ??= this.probeOnce();
    return this.result;
  }

  private async probeOnce(): Promise<DiskIo> {
    try {
      return await probeDiskIo(await this.pool.path(), this.options);
    } catch {
      this.result = undefined;
      return {};
    }
  }
}

async function canOpenDirectly(folder: string): Promise<boolean> {
  let file: FileHandle | undefined;
  try {
    file = await open(folder, constants.O_RDWR | constants.O_DIRECT | O_UNNAMED_FILE, 0o600);
    return true;
  } catch {
    return false;
  } finally {
    await file?.close();
  }
}

/** Runs as an unprivileged user where possible, as QEMU does: the kernel may allow io_uring to root only. */
async function canUseIoUring({
  run = runProgram,
  createTemporaryFolder,
  isRoot = process.getuid?.() === 0,
}: DiskIoProbeOptions): Promise<boolean> {
  const folder = await createTemporaryFolder();
  try {
    const name = 'probe.img';
    await writeFile(join(folder, name), Buffer.alloc(PROBE_BYTES), { mode: 0o644 });
    await chmod(folder, 0o755);
    const result = await run('qemu-img', ['bench', '-f', 'raw', '-i', 'io_uring', '-c', '1', '-d', '1', name], {
      timeoutMs: PROBE_TIMEOUT_MS,
      // The folders above may be closed to the unprivileged user, so the path is relative.
      cwd: folder,
      ...(isRoot && { user: { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } }),
    });
    return result.code === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
