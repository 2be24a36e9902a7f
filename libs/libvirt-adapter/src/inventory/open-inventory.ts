import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { DomainReader } from '../domains/domain-reader.js';
import type { DomainWatchDeps } from './domain-watch.js';
import { LibvirtInventory } from './libvirt-inventory.js';

/** The abilities that follow the inventory. */
export type InventoryListeners = Pick<
  DomainWatchDeps,
  'canMigrate' | 'observer' | 'onDiscovered' | 'onEvent' | 'onFirstWatch'
>;

export const openInventory = (engine: LibvirtEngine, listeners: InventoryListeners): LibvirtInventory =>
  new LibvirtInventory({ ...engine, ...listeners, reader: new DomainReader(engine.connection) });
