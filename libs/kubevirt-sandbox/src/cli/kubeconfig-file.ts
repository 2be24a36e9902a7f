import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './command-line.js';

/** Marks the file as ours: a left-over one may be replaced, any other file may not. */
const MARK = '# Written by the kube-sandbox and removed when it ends.\n';

/** The kubeconfig of a stand-alone sandbox, which exists as long as the sandbox. */
export class KubeconfigFile {
  private constructor(
    readonly path: string,
    private readonly text: string,
    private readonly ownFolder: boolean,
  ) {}

  /**
   * @param path undefined: in a new folder under the system's temporary folder
   * @throws UsageError when the path holds a file that no sandbox has written, or can't be written
   */
  static write(path: string | undefined, kubeconfig: string): KubeconfigFile {
    const text = MARK + kubeconfig;
    if (path === undefined) {
      const file = join(mkdtempSync(join(tmpdir(), 'kube-sandbox-')), 'kubeconfig');
      writeFileSync(file, text, { mode: 0o600 });
      return new KubeconfigFile(file, text, true);
    }
    const file = resolve(path);
    try {
      if (contentOf(file)?.startsWith(MARK)) rmSync(file);
      writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw new UsageError(refusal(file, error as NodeJS.ErrnoException));
    }
    return new KubeconfigFile(file, text, false);
  }

  /** Removes the file, unless another sandbox has replaced it in the meantime. */
  remove(): void {
    if (contentOf(this.path) !== this.text) return;
    rmSync(this.ownFolder ? dirname(this.path) : this.path, { recursive: this.ownFolder });
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const refusal = (file: string, { code, message }: NodeJS.ErrnoException): string =>
  code === 'EEXIST'
    ? `${file} exists and was not written by a sandbox; name another file with --kubeconfig`
    : `the kubeconfig can not be written: ${message}`;
