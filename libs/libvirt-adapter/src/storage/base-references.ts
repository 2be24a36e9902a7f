import { basename } from 'node:path';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { DiskUsage } from './disk-usage.js';

/**
 * Which base images are in use. Their names are unique, so a reference is recognized by the name alone, whatever the
 * path.
 */
export class BaseReferences {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
  ) {}

  /**
   * The references at this moment: by the disks of all domains with their backing files, and by all volumes in active
   * pools, which may belong to no domain.
   * @throws DomainError when not everything can be read
   */
  async read(): Promise<{ has(name: string): boolean }> {
    const [usage, volumes] = [await DiskUsage.read(this.connection, this.finder), await this.volumeDocuments()];
    return {
      has: (name) =>
        usage.mentions(name) || volumes.some(({ path, xml }) => basename(path) !== name && xml.includes(name)),
    };
  }

  private async volumeDocuments(): Promise<{ path: string; xml: string }[]> {
    const { storage } = this.connection;
    const documents: { path: string; xml: string }[] = [];
    for (const pool of await storage.activePools()) {
      await storage.refreshPool(pool);
      const names = await storage.volumes(pool);
      const paths = (await storage.volumePaths(names.map((name) => ({ pool, name })))).filter(
        (path) => path !== undefined,
      );
      const found = await storage.volumesAt(paths);
      paths.forEach((path, i) => documents.push({ path, xml: found[i] ?? '' }));
    }
    return documents;
  }
}
