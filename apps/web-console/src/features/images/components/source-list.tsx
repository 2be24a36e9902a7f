import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CustomSourceDto } from '@headgate/api-contracts';
import { useId, useState } from 'react';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import {
  addSource,
  previewRemoval,
  previewSource,
  removeSource,
  SOURCES_KEY,
  useCustomSources,
} from '../api/image-requests.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const kinds = perLanguage(() => ({ containerDisk: t`Container disk`, url: t`Disk image`, iso: 'ISO' }) as const);

/** The images that users have added to the catalog, with a form to add one. */
export function SourceList({ refusal }: { refusal: string | undefined }) {
  const { data: sources, error, refetch } = useCustomSources();
  const [change, setChange] = useState<ConfirmedRequest>();
  const queries = useQueryClient();
  return (
    <section aria-label={t`Custom sources`} className="hg-section">
      <h2>{t`Custom sources`}</h2>
      <p className="hg-note">{t`Images that users have added to the catalog, for new VMs`}</p>
      {error && <ErrorAlert title={t`Couldn't load the sources`} error={error} onRetry={() => void refetch()} />}
      {!sources && !error && <Skeleton height="6rem" label={t`Loading sources`} />}
      {sources?.length === 0 && <p className="hg-note">{t`No custom sources yet`}</p>}
      {sources && sources.length > 0 && (
        <Table
          label={t`Custom sources`}
          columns={[t`Name`, t`Kind`, t`Address`, t`Description`, t`Actions`]}
          className="hg-gap-below"
        >
          {sources.map(({ name, kind, uri, containerDisk, description }) => (
            <tr key={name}>
              <td translate="no">{name}</td>
              <td>{kind in kinds() ? kinds()[kind as keyof ReturnType<typeof kinds>] : kind}</td>
              <td translate="no">{uri ?? containerDisk}</td>
              <td translate="no">{description}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Remove ${name}`}
                  reason={refusal}
                  onClick={() =>
                    setChange({
                      title: t`Remove ${name}?`,
                      label: t`Remove`,
                      done: t`${name} was removed`,
                      isDanger: true,
                      preview: (signal) => previewRemoval(name, signal),
                      run: () => removeSource(name),
                    })
                  }
                >
                  {t`Remove`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <SourceForm
        key={sources?.length}
        refusal={refusal}
        onAdd={(source) =>
          setChange({
            title: t`Add ${source.name}`,
            label: t`Add`,
            done: t`${source.name} was added`,
            preview: (signal) => previewSource(source, signal),
            run: () => addSource(source),
          })
        }
      />
      {change && (
        <PlannedChangePanel
          change={change}
          failure={t`Couldn't change the sources`}
          onClose={() => setChange(undefined)}
          onChanged={() => {
            void queries.invalidateQueries({ queryKey: SOURCES_KEY });
            void queries.invalidateQueries({ queryKey: ['images'] });
          }}
        />
      )}
    </section>
  );
}

interface SourceFormProps {
  refusal: string | undefined;
  onAdd: (source: CustomSourceDto) => void;
}

function SourceForm({ refusal, onAdd }: SourceFormProps) {
  const kindId = useId();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<CustomSourceDto['kind']>('url');
  const [uri, setUri] = useState('');
  const [description, setDescription] = useState('');
  const reason =
    refusal ?? (name === '' || uri.trim() === '' ? t`Enter a name and an address first.` : nameProblem(name));
  const add = (): void => onAdd({ name, kind, uri: uri.trim(), ...(description === '' ? {} : { description }) });
  return (
    <form
      aria-label={t`New source`}
      className="hg-toolbar hg-toolbar--fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) add();
      }}
    >
      <LabeledInput label={t`Name`} aria-label={t`Name of the new source`} value={name} onChange={setName} />
      <Field label={t`Kind`} id={kindId}>
        <SelectInput
          id={kindId}
          aria-label={t`Kind of the new source`}
          value={kind}
          onChange={(value) => setKind(value as CustomSourceDto['kind'])}
        >
          {Object.entries(kinds()).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectInput>
      </Field>
      <LabeledInput label={t`Address`} aria-label={t`Address of the new source`} value={uri} onChange={setUri} />
      <LabeledInput
        label={t`Description`}
        aria-label={t`Description of the new source`}
        value={description}
        onChange={setDescription}
      />
      <ReasonedButton variant="secondary" type="submit" reason={reason}>
        {t`Add source…`}
      </ReasonedButton>
    </form>
  );
}
