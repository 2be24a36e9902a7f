import type { SealedFiles } from './sealed-files.js';
import { loadIndex, type LoadedIndex } from './loaded-index.js';

/** The index as it was read last. Reading it again only reads new files. */
export class IndexCache {
  private loaded: LoadedIndex | undefined;

  constructor(private readonly files: SealedFiles) {}

  /** The index with all files that the repository has now. */
  async refresh(): Promise<LoadedIndex> {
    this.loaded = await loadIndex(this.files, this.loaded);
    return this.loaded;
  }

  /** The index of the last refresh. */
  async current(): Promise<LoadedIndex> {
    return this.loaded ?? this.refresh();
  }
}
