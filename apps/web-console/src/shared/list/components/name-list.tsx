import type { Instance } from '../../instances/instance.js';
import { countOf } from '../list-kind.js';

/** A thousand names help nobody; the first ones show whether the right ones were marked. */
const NAMED = 100;

/** Instances by name under a heading that counts them; nothing where there are none. */
export function NameList({
  kind,
  title,
  names,
}: {
  kind: { one: string; many: string };
  title: string;
  names: readonly string[];
}) {
  if (names.length === 0) return null;
  return (
    <section className="hg-names" aria-label={title}>
      <h3>
        {title}: {countOf(kind, names.length)}
      </h3>
      <ul tabIndex={0} aria-label={title}>
        {names.slice(0, NAMED).map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length > NAMED && <li>and {(names.length - NAMED).toLocaleString('en')} more</li>}
      </ul>
    </section>
  );
}

export const nameOf = ({ namespace, name }: Instance): string => `${namespace}/${name}`;
