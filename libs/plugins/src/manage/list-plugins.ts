import { compareVersions } from '../format/plugin-version.js';
import type { InstalledState, PluginFolder } from '../install/plugin-folder.js';
import type { PluginOffer } from '../store/plugin-source.js';
import type { PluginStore } from '../store/plugin-store.js';

/** A plugin of a store, an installed one, or both. */
export interface ListedPlugin {
  readonly name: string;
  readonly description: string;
  /** The installed version, or else the offered one. */
  readonly version: string;
  readonly installed: boolean;
  readonly inStore: boolean;
  /** The offered version when it is newer than the installed one. */
  readonly availableVersion?: string;
  /** `bundled`, or the URL of the index that it is or was offered by. */
  readonly origin?: string;
  readonly publisher?: string;
  /** Why an installed plugin can't be used. */
  readonly problem?: string;
}

export interface PluginList {
  /** Sorted by name. */
  readonly plugins: readonly ListedPlugin[];
  /** The indexes that could not be read, with the reason. */
  readonly problems: ReadonlyMap<string, string>;
}

/** The offers of all stores, merged with the installed plugins. */
export class ListPlugins {
  constructor(
    private readonly store: PluginStore,
    private readonly folder: PluginFolder,
  ) {}

  async read(): Promise<PluginList> {
    const { offers, problems } = await this.store.read();
    const names = [...new Set([...offers.keys(), ...this.folder.all().keys()])].sort();
    return { plugins: names.map((name) => merge(name, offers.get(name), this.folder.get(name))), problems };
  }
}

function merge(name: string, offer: PluginOffer | undefined, state: InstalledState | undefined): ListedPlugin {
  const plugin = state && 'manifest' in state ? state : undefined;
  const shown = plugin?.manifest ?? offer;
  const isUpgrade = plugin && offer && compareVersions(offer.version, plugin.manifest.version) > 0;
  const origin = plugin?.origin ?? offer?.origin;
  return {
    name,
    description: shown?.description ?? '',
    version: shown?.version ?? '',
    installed: state !== undefined,
    inStore: offer !== undefined,
    ...(isUpgrade ? { availableVersion: offer.version } : {}),
    ...(origin === undefined ? {} : { origin }),
    ...(offer?.publisher === undefined ? {} : { publisher: offer.publisher }),
    ...(state && 'problem' in state ? { problem: state.problem } : {}),
  };
}
