import type { ContextAbilities } from '../../../shared/queries/use-capabilities.js';
import { Icon } from '../../../shared/ui/icon.js';
import { SOURCE_WORDING, sourceLack, SOURCES, type SourceKind } from '../sources.js';

interface SourcePickerProps {
  context: ContextAbilities | undefined;
  chosen: SourceKind;
  onChange: (source: SourceKind) => void;
}

/** What the disk is made of. A source that the context lacks says why. */
export function SourcePicker({ context, chosen, onChange }: SourcePickerProps) {
  return (
    <fieldset className="hg-tiles">
      <legend>Source</legend>
      {SOURCES.map((source) => {
        const { title, hint, icon } = SOURCE_WORDING[source];
        const lack = sourceLack(context, source);
        return (
          <label key={source} className="hg-tile" data-lacking={lack !== undefined}>
            <input
              type="radio"
              name="source"
              checked={chosen === source}
              disabled={lack !== undefined}
              onChange={() => onChange(source)}
            />
            <Icon name={icon} />
            <span>
              <b>{title}</b>
              <span className="hg-note">{lack ?? hint}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
