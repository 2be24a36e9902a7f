import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import { PLUGIN_API_VERSION } from '@headgate/plugin-sdk';
import type { InstalledPlugin } from '../install/plugin-folder.js';
import { PluginProcess } from './plugin-process.js';
import { sandboxedCommand, type PluginPaths, type SandboxedCommand } from './sandboxed-command.js';

export interface PluginHostDeps {
  /** A private folder, with a work folder for each running plugin. */
  readonly workFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces the sandbox in tests. */
  readonly command?: (paths: PluginPaths) => SandboxedCommand;
}

/** How long a call may take by default. */
export const CALL_TIMEOUT_MS = 30_000;
const START_TIMEOUT_MS = 15_000;
/** A plugin without calls is stopped after this time. */
export const IDLE_TIMEOUT_MS = 5 * 60_000;
/** The pause after the first failure; it doubles with each further one. */
export const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

interface Entry {
  process: PluginProcess | undefined;
  /** The start that is under way. */
  starting: Promise<PluginProcess> | undefined;
  activeCalls: number;
  cancelIdle: () => void;
  failures: number;
  retryAt: number;
  lastFailure: string;
}

/**
 * Runs installed plugins, each in a process of its own, which starts with its first call. A plugin that fails is
 * started again by the next call, but not before a pause that grows with each failure.
 */
export class PluginHost {
  private readonly entries = new Map<string, Entry>();
  private isClosed = false;

  constructor(private readonly deps: PluginHostDeps) {}

  /** @throws DomainError PLUGIN_FAILED */
  async call(plugin: InstalledPlugin, method: string, params: unknown, timeoutMs = CALL_TIMEOUT_MS): Promise<unknown> {
    const entry = this.entryOf(plugin);
    entry.cancelIdle();
    entry.activeCalls++;
    try {
      // The end of a process counts as a failure, so it comes before the next start.
      if (entry.process?.isRunning === false) await entry.process.ended;
      const process = entry.process ?? (await this.start(plugin, entry));
      const result = await process.call(method, params, timeoutMs);
      entry.failures = 0;
      return result;
    } finally {
      entry.activeCalls--;
      if (entry.activeCalls === 0) this.stopWhenIdle(entry);
    }
  }

  /**
   * Starts a version that is not installed yet, and stops it.
   * @throws DomainError PLUGIN_FAILED when it does not work
   */
  async check(candidate: InstalledPlugin): Promise<void> {
    const workName = `${candidate.manifest.name}.candidate`;
    try {
      const process = await this.launch(candidate, workName);
      await process.stop();
    } finally {
      await rm(join(this.deps.workFolder, workName), { recursive: true, force: true });
    }
  }

  /** Removes the work folders that an earlier run has left. Call it before the first call of a plugin. */
  async sweep(): Promise<void> {
    await rm(this.deps.workFolder, { recursive: true, force: true });
  }

  /** How many calls of a plugin are under way. */
  activeCalls(name: string): number {
    return this.entries.get(name)?.activeCalls ?? 0;
  }

  /** Stops a plugin, and forgets its failures. */
  async stop(name: string): Promise<void> {
    const entry = this.entries.get(name);
    if (!entry) return;
    this.entries.delete(name);
    entry.cancelIdle();
    await entry.starting?.catch(() => undefined);
    await entry.process?.stop();
    await rm(join(this.deps.workFolder, name), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.entries.keys()].map((name) => this.stop(name)));
  }

  private entryOf({ manifest: { name } }: InstalledPlugin): Entry {
    const existing = this.entries.get(name);
    if (existing) return existing;
    const entry: Entry = {
      process: undefined,
      starting: undefined,
      activeCalls: 0,
      cancelIdle: () => undefined,
      failures: 0,
      retryAt: 0,
      lastFailure: '',
    };
    this.entries.set(name, entry);
    return entry;
  }

  private start(plugin: InstalledPlugin, entry: Entry): Promise<PluginProcess> {
    const { clock } = this.deps;
    const { name } = plugin.manifest;
    if (this.isClosed) throw new DomainError('NOT_READY', 'The service is shutting down.');
    const waitMs = entry.retryAt - clock.now();
    if (entry.failures > 0 && waitMs > 0)
      throw new DomainError(
        'PLUGIN_FAILED',
        `The plugin ${name} has failed ${entry.failures} times and can be started again in ${Math.ceil(waitMs / 1000)} s. ${entry.lastFailure}`,
      );
    entry.starting ??= this.launch(plugin, name)
      .then((process) => {
        entry.process = process;
        void process.ended.then((reason) => this.onEnd(name, entry, process, reason));
        return process;
      })
      .catch((error: unknown) => {
        this.countFailure(name, entry, messageOf(error));
        throw error;
      })
      .finally(() => (entry.starting = undefined));
    return entry.starting;
  }

  /** Starts a process, and waits until it has described the plugin as the manifest does. */
  private async launch({ manifest, folder }: InstalledPlugin, workName: string): Promise<PluginProcess> {
    const { clock, command = sandboxedCommand } = this.deps;
    const { name, version, apiVersion, ability, entry } = manifest;
    if (apiVersion !== PLUGIN_API_VERSION)
      throw new DomainError(
        'NOT_SUPPORTED',
        `${name} ${version} needs version ${apiVersion} of the plugin API; this release has version ${PLUGIN_API_VERSION}.`,
      );
    const workFolder = join(this.deps.workFolder, workName);
    await rm(workFolder, { recursive: true, force: true });
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    // Node's permissions are for real paths.
    const paths = { folder: await realpath(folder), entry, workFolder: await realpath(workFolder) };
    const process = new PluginProcess({ name, command: command(paths), workFolder, clock });
    try {
      const answer = (await process.call('describe', {}, START_TIMEOUT_MS)) as Record<string, unknown> | null;
      const expected = { name, version, apiVersion, ability };
      const wrong = Object.entries(expected).find(([key, value]) => answer?.[key] !== value)?.[0];
      if (wrong !== undefined)
        throw new DomainError('PLUGIN_FAILED', `The plugin ${name} describes another ${wrong} than its manifest.`);
      return process;
    } catch (error) {
      process.kill('was not started');
      await process.ended;
      throw error;
    }
  }

  private onEnd(name: string, entry: Entry, process: PluginProcess, reason: string): void {
    // A stop has taken it out.
    if (entry.process !== process || this.entries.get(name) !== entry) return;
    entry.process = undefined;
    this.countFailure(name, entry, `It ${reason}.`);
  }

  private countFailure(name: string, entry: Entry, reason: string): void {
    entry.failures++;
    entry.retryAt = this.deps.clock.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (entry.failures - 1));
    entry.lastFailure = reason;
    this.deps.log.warn({ plugin: name, failures: entry.failures, reason }, 'a plugin has failed');
  }

  private stopWhenIdle(entry: Entry): void {
    entry.cancelIdle = this.deps.clock.after(IDLE_TIMEOUT_MS, () => {
      const { process } = entry;
      if (entry.activeCalls > 0 || !process) return;
      entry.process = undefined;
      void process.stop();
    });
  }
}
