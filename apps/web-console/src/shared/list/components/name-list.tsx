import { t } from '@lingui/core/macro';
import { Data } from '../../ui/data.js';
import { ServiceText } from '../../ui/service-text.js';
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
  notes = 'page',
}: {
  kind: { readonly counted: (count: number) => string; readonly plural: string };
  title: string;
  /** Names, each possibly with a note after `: `. */
  names: readonly string[];
  /** Whether the notes are sentences of the service or of the page, or whole lines are texts of the page. */
  notes?: 'service' | 'page' | 'lines';
}) {
  if (names.length === 0) return null;
  return (
    <section className="hg-names" aria-label={title}>
      <h3>
        {title}: {countLabel(kind, names.length)}
      </h3>
      <ul tabIndex={0} aria-label={title}>
        {names.slice(0, MAX_NAMES).map((name) => (
          <li key={name}>{notes === 'lines' ? name : <NamedNote line={name} isService={notes === 'service'} />}</li>
        ))}
        {names.length > MAX_NAMES && <li>{t`and ${readableNumber(names.length - MAX_NAMES)} more`}</li>}
      </ul>
    </section>
  );
}

function NamedNote({ line, isService }: { line: string; isService: boolean }) {
  const [name = '', ...rest] = line.split(': ');
  const note = rest.join(': ');
  return (
    <>
      <Data>{name}</Data>
      {note !== '' && ': '}
      {isService ? <ServiceText>{note}</ServiceText> : note}
    </>
  );
}

export const nameOf = ({ namespace, name }: Instance): string => `${namespace}/${name}`;
