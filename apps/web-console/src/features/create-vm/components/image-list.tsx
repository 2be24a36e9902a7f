import { t } from '@lingui/core/macro';
import { useState } from 'react';
import type { Identity } from '../../../shared/creation/form-fields.js';
import { SearchInput } from '../../../shared/ui/inputs.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { canUse, useImages } from '../api/use-images.js';
import { useReadyImages } from '../api/use-ready-images.js';

/** As many fit into the list without scrolling. */
const MAX_WITHOUT_SEARCH = 4;

interface ImageListProps {
  /** Where the VM will be. */
  form: Identity;
  chosen: string;
  onChange: (image: string) => void;
}

/**
 * The catalog's images for the context, built-in ones first, and then the imported images. The catalog has priority
 * where both have a name.
 */
export function ImageList({ form, chosen, onChange }: ImageListProps) {
  const [search, setSearch] = useState('');
  const { data: images, error, refetch } = useImages();
  const { data: capabilities } = useCapabilities();
  const ready = useReadyImages()(form);
  if (error) return <ErrorAlert title={t`Couldn't load the catalog`} error={error} onRetry={() => void refetch()} />;
  if (!images) return <Skeleton height="6rem" label={t`Loading the catalog`} />;
  const context = contextNamed(capabilities, form.context);
  const catalog = images.filter((image) => canUse(context, image));
  const choices = [
    ...catalog.map(({ custom, ...image }) => ({ ...image, origin: custom ? t`custom` : undefined })),
    ...ready
      .filter(({ name }) => !catalog.some((entry) => entry.name === name))
      .map(({ name, source }) => ({ name, description: source, defaultUser: '', origin: t`imported` })),
  ];
  if (choices.length === 0) return <p className="hg-note">{t`The catalog is empty. Choose another source.`}</p>;
  const text = search.trim().toLowerCase();
  // The chosen one is never hidden: it is a part of the request.
  const shown = choices.filter(
    ({ name, description }) => name === chosen || `${name} ${description}`.toLowerCase().includes(text),
  );
  return (
    <>
      {choices.length > MAX_WITHOUT_SEARCH && (
        <SearchInput
          className="hg-image-search"
          aria-label={t`Search images`}
          placeholder={t`Search ${choices.length} images`}
          value={search}
          onChange={setSearch}
        />
      )}
      <div className="hg-images" role="radiogroup" aria-label={t`Image`}>
        {shown.map(({ name, description, defaultUser, origin }) => (
          <label key={name} className="hg-image">
            <input type="radio" name="image" checked={chosen === name} onChange={() => onChange(name)} />
            <span>
              <b translate="no">{name}</b> {origin && <span className="hg-tag">{origin}</span>}
              <span className="hg-note" translate="no">
                {description}
              </span>
            </span>
            {defaultUser && <span className="hg-note">{t`User: ${defaultUser}`}</span>}
          </label>
        ))}
      </div>
    </>
  );
}
