import { SourceStore, type CustomSource } from '@headgate/domain-contracts';

/** SourceStore in memory. */
export class MemorySourceStore extends SourceStore {
  private readonly sources = new Map<string, CustomSource>();

  override async put(source: CustomSource): Promise<void> {
    this.sources.set(source.name, { ...source });
  }

  override async delete(name: string): Promise<boolean> {
    return this.sources.delete(name);
  }

  override all(): readonly CustomSource[] {
    return [...this.sources.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  override get(name: string): CustomSource | undefined {
    return this.sources.get(name);
  }
}
