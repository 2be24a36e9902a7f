import type { ReactNode } from 'react';

/** A sentence of the service. It is English in every language of the page, and screen readers read it as such. */
export const ServiceText = ({ children }: { children: ReactNode }) => <span lang="en">{children}</span>;
