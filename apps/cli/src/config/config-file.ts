import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  fstatSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EXIT_CODES } from '../exit-codes.js';
import { ClientError } from '../client/client-error.js';
import { EMPTY_CONFIG, parseConfig, type Config } from './config.js';
import { withLock } from './config-lock.js';

const OTHERS = 0o077;

/** The file of the user's contexts. It contains tokens, so no other user may read it. */
export class ConfigFile {
  constructor(readonly path: string) {}

  static of(env: Readonly<Record<string, string | undefined>>, homeDirectory: string): ConfigFile {
    const folder = env['XDG_CONFIG_HOME'] || join(homeDirectory, '.config');
    return new ConfigFile(env['HEADGATE_CONFIG'] || join(folder, 'headgate/config.yaml'));
  }

  /** @throws ClientError for a file that others can read, and for one that is not valid */
  async read(): Promise<Config> {
    const text = this.readText();
    if (text === undefined) return EMPTY_CONFIG;
    const { parse } = await import('yaml');
    let value: unknown;
    try {
      value = parse(text, { maxAliasCount: 0 });
    } catch (error) {
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
      throw ClientError.usage(`${this.path} is not valid YAML: ${reason}`);
    }
    return parseConfig(value, this.path);
  }

  /** Changes the file as it is at that moment: two programs that change it at the same time both succeed. */
  async change(update: (config: Config) => Config): Promise<void> {
    const { stringify } = await import('yaml');
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    await withLock(`${this.path}.lock`, async () => this.replace(stringify(update(await this.read()))));
  }

  private readText(): string | undefined {
    let file: number;
    try {
      file = openSync(this.path, 'r');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw ClientError.usage(`${this.path} can not be read (${code ?? String(error)}).`);
    }
    try {
      // Of the open file: the path may lead to another one a moment later.
      const { mode, uid } = fstatSync(file);
      const self = process.getuid?.();
      if (self !== undefined && (mode & OTHERS) !== 0)
        throw refused(
          `${this.path} can be read or changed by other users, and it contains tokens. Run: chmod 600 ${this.path}`,
        );
      if (self !== undefined && self !== 0 && uid !== self)
        throw refused(
          `${this.path} belongs to another user, who could redirect your requests. Use a file of your own.`,
        );
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  }

  private replace(text: string): void {
    const target = this.target();
    const draft = `${target}.${randomUUID()}`;
    try {
      const file = openSync(draft, 'wx', 0o600);
      try {
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(draft, target);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  }

  /** The file behind a link, which stays a link. */
  private target(): string {
    try {
      return realpathSync(this.path);
    } catch {
      return this.path;
    }
  }
}

const refused = (message: string): ClientError => new ClientError('CONFIG_NOT_PRIVATE', message, EXIT_CODES.refused);
