import {
  InstanceInventory,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
} from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import { parseDomain } from '../domain-xml/domain-description.js';
import { toJson } from '../xml/xml.js';
import { DomainWatch, type DomainWatchDeps } from './domain-watch.js';
import { maskSecrets } from './mask-secrets.js';

export class LibvirtInventory extends InstanceInventory {
  private isStarted = false;
  private readonly watches = new Set<DomainWatch>();

  constructor(private readonly deps: DomainWatchDeps) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    if (!this.isStarted) this.deps.onFirstWatch?.();
    this.isStarted = true;
    // Every watch receives every event; those of one are enough.
    const onEvent: DomainWatchDeps['onEvent'] = (event) => {
      const [first] = this.watches;
      if (first === watch) this.deps.onEvent?.(event);
    };
    const watch: DomainWatch = new DomainWatch({ ...this.deps, onEvent }, listener);
    this.watches.add(watch);
    return {
      stop: async () => {
        this.watches.delete(watch);
        await watch.stop();
      },
    };
  }

  /**
   * The domain's description (https://libvirt.org/formatdomain.html) as `{domain: …}`: attributes begin with `@`, text
   * is under `#text`.
   */
  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    const { uuid } = await this.deps.finder.find(ref);
    const xml = await this.deps.connection.domains.xml(uuid, { withSecrets: !masked });
    const { domain } = parseDomain(xml);
    return toJson({ domain: masked ? maskSecrets(domain) : domain });
  }

  /** Reads a domain again after a change for which libvirt emits no event. */
  reread({ name }: DomainId): void {
    for (const watch of this.watches) watch.reread(name);
  }

  async close(): Promise<void> {
    await Promise.all([...this.watches].map((watch) => watch.stop()));
    this.watches.clear();
  }
}
