import { t } from '@lingui/core/macro';
import type { Instance } from '../../instances/instance.js';
import { countLabel } from '../list-kind.js';
import { readableNumber } from '../../texts/formats.js';

/** The first names are enough to see whether the selection is right. */
const MAX_NAMES = 100;

/** A list of names under a heading with their count; nothing when the list is empty. */
export function NameList({
  kind,
  title,
  names,
}: {
  kind: { readonly counted: (count: number) => string; readonly plural: string };
  title: string;
  names: readonly string[];
}) {
  if (names.length === 0) return null;
  return (
    <section className="hg-names" aria-label={title}>
      <h3>
        {title}: {countLabel(kind, names.length)}
      </h3>
      <ul tabIndex={0} aria-label={title}>
        {names.slice(0, MAX_NAMES).map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length > MAX_NAMES && <li>{t`and ${readableNumber(names.length - MAX_NAMES)} more`}</li>}
      </ul>
    </section>
  );
}

export const nameOf = ({ namespace, name }: Instance): string => `${namespace}/${name}`;
