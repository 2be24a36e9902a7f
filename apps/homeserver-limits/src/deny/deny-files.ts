import { readFile, stat } from 'node:fs/promises';
import { ConfigError } from '@headgate/nest-kit';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import type { DenyListSettings } from '../config/deny.section.js';
import type { DeniedEntries } from '../link/protocol.js';
import { CrowdsecLists } from './crowdsec-lists.js';
import { MAX_FILE_BYTES, parseDenyFile } from './deny-file.js';
import { denyRuleOf } from './deny-gate.js';
import type { DenyLists } from './deny-lists.js';

/** How often the files are looked at. */
const INTERVAL_MS = 5_000;

interface Loaded {
  readonly version: string;
  readonly entries: readonly string[];
}

export interface DenyFilesDeps {
  readonly lists: DenyLists;
  /** The lists of the configuration in force. */
  readonly settings: () => readonly DenyListSettings[];
  /** Creates the series of lists. */
  readonly declare: (names: readonly string[]) => void;
  readonly log: Pick<Logger, 'info' | 'error' | 'warn'>;
  /** The origin of the decisions that this gateway exports. */
  readonly ownOrigin?: string | undefined;
}

/**
 * The files of the deny lists, and the lists of CrowdSec. A file that has changed is read as a whole. One that is
 * invalid or gone leaves its previous list in force.
 */
export class DenyFiles implements OnModuleInit, OnApplicationShutdown {
  private readonly loaded = new Map<string, Loaded>();
  /** The versions of files that were refused, which are reported once. */
  private readonly refused = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();
  private onChange: (lists: readonly DeniedEntries[]) => void = () => undefined;
  private readonly crowdsec: CrowdsecLists;

  constructor(private readonly deps: DenyFilesDeps) {
    this.crowdsec = new CrowdsecLists({ log: deps.log, onChange: () => this.apply(), ownOrigin: deps.ownOrigin });
  }

  /** The lists in force. */
  get current(): DeniedEntries[] {
    return this.deps.settings().map((list) => {
      const { name, file, shadow } = list;
      const entries = file === undefined ? this.crowdsec.entriesOf(list) : (this.loaded.get(file)?.entries ?? []);
      return { name, shadow, entries };
    });
  }

  /** @param onChange receives all lists when one has changed */
  follow(onChange: (lists: readonly DeniedEntries[]) => void): void {
    this.onChange = onChange;
  }

  /** @throws ConfigError when a file can't be used: a gateway does not start without its lists */
  async onModuleInit(): Promise<void> {
    const problems: string[] = [];
    for (const { file } of this.files) problems.push(...(await this.load(file)));
    if (problems.length > 0) throw new ConfigError('configuration', problems);
    await this.crowdsec.configure(this.deps.settings());
    this.apply();
    this.timer = setInterval(() => void this.check(), INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.crowdsec.stop();
  }

  /** Reads the files that have changed, and applies the lists of the configuration. Never rejects. */
  check(isReload = false): Promise<void> {
    this.last = this.last.then(() => this.checkAll(isReload));
    return this.last;
  }

  private async checkAll(isReload: boolean): Promise<void> {
    const before = [...this.loaded.values()];
    for (const { name, file } of this.files) {
      const problems = await this.load(file);
      if (problems.length > 0)
        this.deps.log.error({ list: name, problems }, 'a deny list was not changed; the previous one stays in force');
    }
    if (isReload) await this.crowdsec.configure(this.deps.settings());
    const after = [...this.loaded.values()];
    const hasChanged = after.length !== before.length || after.some((one, index) => one !== before[index]);
    if (!hasChanged && !isReload) return;
    this.apply();
    if (!hasChanged) return;
    const counts = Object.fromEntries(this.current.map(({ name, entries }) => [name, entries.length]));
    this.deps.log.info({ entries: counts }, 'the deny lists were read');
  }

  private get files(): { name: string; file: string }[] {
    return this.deps.settings().flatMap(({ name, file }) => (file === undefined ? [] : [{ name, file }]));
  }

  private apply(): void {
    const { current } = this;
    this.deps.declare(current.map(({ name }) => denyRuleOf(name)));
    this.deps.lists.replace(current);
    this.onChange(current);
  }

  /** Reads a file that is new or has changed. @returns why it can't be used, once for each version */
  private async load(file: string): Promise<string[]> {
    let version = 'none';
    try {
      const { mtimeMs, size, ino } = await stat(file);
      version = `${mtimeMs} ${size} ${ino}`;
      if (this.loaded.get(file)?.version === version) return [];
      if (size > MAX_FILE_BYTES)
        return this.refuse(file, version, [`has ${size} bytes; use at most ${MAX_FILE_BYTES}`]);
      const parsed = parseDenyFile(await readFile(file, 'utf8'));
      if ('problems' in parsed) return this.refuse(file, version, parsed.problems);
      this.loaded.set(file, { version, entries: parsed.entries });
      this.refused.delete(file);
      return [];
    } catch (error) {
      return this.refuse(file, version, [`cannot be read: ${(error as Error).message}`]);
    }
  }

  private refuse(file: string, version: string, problems: readonly string[]): string[] {
    if (this.refused.get(file) === version) return [];
    this.refused.set(file, version);
    return problems.map((problem) => `${file} ${problem}`);
  }
}
