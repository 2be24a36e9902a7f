import type { ReactNode } from 'react';

/**
 * A name, an address or another value that no language changes. Browsers that translate pages leave it as it is, and
 * the checks of texts do not expect it in the catalog. An element that has no texts has the attribute itself.
 */
export const Data = ({ children }: { children: ReactNode }) => <span translate="no">{children}</span>;
