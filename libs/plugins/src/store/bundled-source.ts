import { DomainError } from '@headgate/domain-contracts';
import { packArchive } from '../format/pack-archive.js';
import { digestOf } from '../format/signature.js';
import { BUNDLED_PLUGINS, type BundledPlugin } from './bundled-plugins.js';
import { PluginSource, type PluginOffer } from './plugin-source.js';

/** The plugins that are built into this program. They work offline. Their digests were pinned when they were packed. */
export class BundledSource extends PluginSource {
  override readonly origin = 'bundled';

  constructor(private readonly plugins: readonly BundledPlugin[] = BUNDLED_PLUGINS) {
    super();
  }

  override async offers(): Promise<readonly PluginOffer[]> {
    return this.plugins.map(({ files, ...plugin }) => ({
      ...plugin,
      origin: this.origin,
      fetch: async () => {
        const archive = await packArchive(files);
        if (digestOf(archive, plugin.digest) !== plugin.digest)
          throw new DomainError('INVALID_PLUGIN', `The bundled archive of ${plugin.name} is damaged.`);
        return archive;
      },
    }));
  }
}
