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

const KINDS = { containerDisk: 'Container disk', url: 'Disk image', iso: 'ISO' } as const;

/** The images that users have added to the catalog, with a form to add one. */
export function SourceList({ refusal }: { refusal: string | undefined }) {
  const { data: sources, error, refetch } = useCustomSources();
  const [change, setChange] = useState<ConfirmedRequest>();
  const queries = useQueryClient();
  return (
    <section aria-label="Custom sources" className="hg-section">
      <h2>Custom sources</h2>
      <p className="hg-note">Images that users have added to the catalog, for new VMs</p>
      {error && <ErrorAlert title="Couldn't load the sources" error={error} onRetry={() => void refetch()} />}
      {!sources && !error && <Skeleton height="6rem" label="Loading sources" />}
      {sources?.length === 0 && <p className="hg-note">No custom sources yet</p>}
      {sources && sources.length > 0 && (
        <Table
          label="Custom sources"
          columns={['Name', 'Kind', 'Address', 'Description', 'Actions']}
          className="hg-gap-below"
        >
          {sources.map(({ name, kind, uri, containerDisk, description }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{kind in KINDS ? KINDS[kind as keyof typeof KINDS] : kind}</td>
              <td>{uri ?? containerDisk}</td>
              <td>{description}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={`Remove ${name}`}
                  reason={refusal}
                  onClick={() =>
                    setChange({
                      title: `Remove ${name}?`,
                      label: 'Remove',
                      done: `${name} was removed`,
                      isDanger: true,
                      preview: (signal) => previewRemoval(name, signal),
                      run: () => removeSource(name),
                    })
                  }
                >
                  Remove
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
            title: `Add ${source.name}`,
            label: 'Add',
            done: `${source.name} was added`,
            preview: (signal) => previewSource(source, signal),
            run: () => addSource(source),
          })
        }
      />
      {change && (
        <PlannedChangePanel
          change={change}
          failure="Couldn't change the sources"
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
    refusal ?? (name === '' || uri.trim() === '' ? 'Enter a name and an address first.' : nameProblem(name));
  const add = (): void => onAdd({ name, kind, uri: uri.trim(), ...(description === '' ? {} : { description }) });
  return (
    <form
      aria-label="New source"
      className="hg-toolbar hg-toolbar--fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) add();
      }}
    >
      <LabeledInput label="Name" aria-label="Name of the new source" value={name} onChange={setName} />
      <Field label="Kind" id={kindId}>
        <SelectInput
          id={kindId}
          aria-label="Kind of the new source"
          value={kind}
          onChange={(value) => setKind(value as CustomSourceDto['kind'])}
        >
          {Object.entries(KINDS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectInput>
      </Field>
      <LabeledInput label="Address" aria-label="Address of the new source" value={uri} onChange={setUri} />
      <LabeledInput
        label="Description"
        aria-label="Description of the new source"
        value={description}
        onChange={setDescription}
      />
      <ReasonedButton variant="secondary" type="submit" reason={reason}>
        Add source…
      </ReasonedButton>
    </form>
  );
}
