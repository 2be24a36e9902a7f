import type { ReactNode } from 'react';
import { Facts } from '../ui/facts.js';

/** Terms and their values in the panel of details. */
export const PeekFacts = ({ facts }: { facts: Readonly<Record<string, ReactNode>> }) => (
  <Facts className="hg-peek-facts" facts={facts} />
);
