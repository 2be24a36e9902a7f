import { join } from 'node:path';
import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LIBVIRT_TRAITS } from '../libvirt-traits.js';
import { KeyedLock } from '../locks/concurrency.js';
import { JsonIndex } from '../storage/json-index.js';
import { LibvirtImages } from './libvirt-images.js';

export const openImages = (engine: LibvirtEngine): LibvirtImages =>
  new LibvirtImages({
    ...engine,
    namespace: LIBVIRT_TRAITS.namespaces.default,
    records: new JsonIndex(join(engine.folder, 'imported-images.json')),
    // Imported images belong to one service.
    lock: new KeyedLock(),
  });
