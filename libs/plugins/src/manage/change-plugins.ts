import {
  buildPlan,
  Change,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type PlanStep,
} from '@headgate/domain-contracts';
import { compareVersions } from '../format/plugin-version.js';
import type { PluginFolder } from '../install/plugin-folder.js';
import type { PluginHost } from '../run/plugin-host.js';
import type { PluginOffer } from '../store/plugin-source.js';
import type { PluginStore } from '../store/plugin-store.js';

export interface PluginChangeDeps {
  readonly store: PluginStore;
  readonly folder: PluginFolder;
  readonly host: PluginHost;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly changing: ChangingPlugins;
}

/** The plugins that a request is changing right now: two requests never change one plugin at the same time. */
export class ChangingPlugins {
  private readonly names = new Set<string>();

  /** @throws DomainError BUSY */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.names.has(name))
      throw new DomainError('BUSY', `The plugin ${name} is being changed by another request; try again in a moment.`);
    this.names.add(name);
    try {
      return await work();
    } finally {
      this.names.delete(name);
    }
  }
}

/** The longest time for the download of a plugin. */
const DOWNLOAD_TIMEOUT_MS = 25_000;

/** Installs a plugin, or upgrades it. Installing the version that is installed already changes nothing. */
export class InstallPlugin extends Change<[name: string], void, string> {
  constructor(private readonly deps: PluginChangeDeps) {
    super();
  }

  /** Which version is installed is only known while no other request changes the plugin. */
  protected override prepare(name: string): string {
    return name;
  }

  protected override async planPrepared(name: string): Promise<Plan> {
    const wanted = await this.choose(name);
    return buildPlan(wanted ? stepsOf(wanted) : []);
  }

  protected override async runPrepared(name: string, caller: Caller): Promise<void> {
    const { folder, host, audit, changing } = this.deps;
    await changing.run(name, async () => {
      const wanted = await this.choose(name);
      if (!wanted) return;
      const { offer } = wanted;
      await audit.of(
        caller,
        'install plugin',
        `plugin/${name}`,
        async () => {
          const archive = await this.fetch(offer);
          const removeOld = await folder.install(offer, archive, (candidate) => host.check(candidate));
          // The next call starts the new version.
          await host.stop(name);
          await removeOld();
        },
        () => `${offer.version} from ${offer.origin}, ${offer.digest}`,
      );
    });
  }

  private async fetch(offer: PluginOffer): Promise<Buffer> {
    const limit = new AbortController();
    const cancel = this.deps.clock.after(DOWNLOAD_TIMEOUT_MS, () => limit.abort());
    try {
      return await offer.fetch(limit.signal);
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      throw new DomainError(
        'BACKEND_TIMEOUT',
        `The download of ${offer.name} took longer than ${DOWNLOAD_TIMEOUT_MS / 1000} s.`,
      );
    } finally {
      cancel();
    }
  }

  /** @returns undefined if the version is installed already */
  private async choose(name: string): Promise<Wanted | undefined> {
    const { store, folder, host } = this.deps;
    const { offers, problems } = await store.read();
    const offer = offers.get(name);
    if (!offer) throw notFound(name, [...problems.values()]);
    const state = folder.get(name);
    if (!state || 'problem' in state) return { offer };
    const order = compareVersions(offer.version, state.manifest.version);
    if (order === 0 && offer.digest === state.digest) return undefined;
    if (order < 0)
      throw new DomainError(
        'WRONG_STATE',
        `${name} ${state.manifest.version} is installed, which is newer than ${offer.version}; remove it first.`,
      );
    if (host.activeCalls(name) > 0) throw inUse(name);
    return { offer, installed: state.manifest.version };
  }
}

/** Removes a plugin with its files. */
export class RemovePlugin extends Change<[name: string], void, string> {
  constructor(private readonly deps: Pick<PluginChangeDeps, 'folder' | 'host' | 'audit' | 'changing'>) {
    super();
  }

  /** Like the installation. */
  protected override prepare(name: string): string {
    return name;
  }

  protected override async planPrepared(name: string): Promise<Plan> {
    this.expect(name);
    return buildPlan([{ name: 'remove plugin', detail: `Stop ${name}, and remove its files.` }]);
  }

  protected override async runPrepared(name: string, caller: Caller): Promise<void> {
    const { folder, host, audit, changing } = this.deps;
    await changing.run(name, async () => {
      this.expect(name);
      await audit.of(caller, 'remove plugin', `plugin/${name}`, async () => {
        await folder.remove(name);
        await host.stop(name);
      });
    });
  }

  private expect(name: string): void {
    const { folder, host } = this.deps;
    if (!folder.get(name)) throw new DomainError('PLUGIN_NOT_FOUND', `The plugin ${name} is not installed.`);
    if (host.activeCalls(name) > 0) throw inUse(name);
  }
}

interface Wanted {
  readonly offer: PluginOffer;
  /** The version that is replaced. */
  readonly installed?: string;
}

function stepsOf({ offer, installed }: Wanted): PlanStep[] {
  const verified = offer.publisher === undefined ? '' : ` and the signature of ${offer.publisher}`;
  return [
    { name: 'fetch', detail: `Fetch ${offer.name} ${offer.version} from ${offer.origin}.` },
    { name: 'verify', detail: `Verify the digest ${offer.digest}${verified}.` },
    { name: 'check', detail: 'Unpack it, and start it once.' },
    { name: 'install', detail: installed === undefined ? 'Install it.' : `Replace version ${installed}.` },
  ];
}

const inUse = (name: string): DomainError =>
  new DomainError('BUSY', `The plugin ${name} is in use; wait until its work has ended.`);

function notFound(name: string, problems: readonly string[]): DomainError {
  const unread = problems.length === 0 ? '' : ` Some indexes could not be read: ${problems.join(' ')}`;
  return new DomainError('PLUGIN_NOT_FOUND', `No store offers a plugin ${name}.${unread}`);
}
