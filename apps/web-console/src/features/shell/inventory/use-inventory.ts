import { t } from '@lingui/core/macro';
import { useDeferredValue, useMemo } from 'react';
import type { VmView } from '@headgate/api-contracts';
import { useFleet } from '../../../shared/fleet/fleet-provider.js';
import { folderTree } from './folder-tree.js';
import { placeOf, placeTree } from './place-tree.js';
import { countBy, signatureOf, type Counts, type TreeNode } from './tree-node.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

interface Arrangement {
  readonly label: string;
  readonly keyOf: (vm: VmView) => string;
  readonly build: (counts: Counts) => readonly TreeNode[];
}

/** The two ways to arrange the VMs in the inventory. */
export const arrangements = perLanguage(
  () =>
    ({
      folders: { label: t`Folders`, keyOf: ({ folder }) => folder ?? '', build: folderTree },
      places: { label: t`Places`, keyOf: placeOf, build: placeTree },
    }) as const satisfies Readonly<Record<string, Arrangement>>,
);

export type ArrangementName = keyof ReturnType<typeof arrangements>;

/**
 * The tree of the VMs. A change of the fleet costs one pass over its entries; the tree is built and shown again only
 * when a number in it is another one.
 */
export function useInventory(name: ArrangementName): readonly TreeNode[] {
  const { keyOf, build }: Arrangement = arrangements()[name];
  // The list has priority over the numbers next to it.
  const entries = useDeferredValue(useFleet((fleet) => fleet.entries));
  const counts = useMemo(() => countBy(entries, keyOf), [entries, keyOf]);
  const signature = useMemo(() => signatureOf(counts), [counts]);
  // The same signature means the same counts.
  return useMemo(() => build(counts), [build, signature]);
}
