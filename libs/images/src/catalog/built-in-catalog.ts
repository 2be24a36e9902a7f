import type { CatalogEntry } from '@headgate/domain-contracts';
import data from './catalog.json' with { type: 'json' };
import { parseCatalog } from './parse-catalog.js';

/** The cloud images of the usual distributions. */
export const builtInCatalog = (): readonly CatalogEntry[] => parseCatalog(data, 'catalog.json');
