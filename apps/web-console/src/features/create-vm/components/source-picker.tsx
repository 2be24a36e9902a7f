import { t } from '@lingui/core/macro';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Icon } from '../../../shared/ui/icon.js';
import { sourceWording, sourceUnavailableReason, SOURCES, type SourceKind } from '../sources.js';

interface SourcePickerProps {
  context: ContextCapabilities | undefined;
  /** Whether images were imported into the namespace of the VM. */
  hasImportedImages: boolean;
  chosen: SourceKind;
  onChange: (source: SourceKind) => void;
}

/** The source of the disk. Unavailable sources explain why. */
export function SourcePicker({ context, hasImportedImages, chosen, onChange }: SourcePickerProps) {
  return (
    <fieldset className="hg-tiles">
      <legend>{t`Source`}</legend>
      {SOURCES.map((source) => {
        const { title, hint, icon } = sourceWording()[source];
        const reason = sourceUnavailableReason(context, source, hasImportedImages);
        return (
          <label key={source} className="hg-tile" data-unavailable={reason !== undefined}>
            <input
              type="radio"
              name="source"
              checked={chosen === source}
              disabled={reason !== undefined}
              onChange={() => onChange(source)}
            />
            <Icon name={icon} />
            <span>
              <b>{title}</b>
              <span className="hg-note">{reason ?? hint}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
