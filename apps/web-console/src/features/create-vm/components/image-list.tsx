import type { Identity } from '../../../shared/creation/form-fields.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useImages } from '../api/use-images.js';
import { useReadyImages } from '../api/use-ready-images.js';

interface ImageListProps {
  /** Where the VM will be. */
  form: Identity;
  chosen: string;
  onChange: (image: string) => void;
}

/** The catalog, built-in images first, and then the imported images. The catalog has priority where both have a name. */
export function ImageList({ form, chosen, onChange }: ImageListProps) {
  const { data: catalog, error, refetch } = useImages();
  const ready = useReadyImages(form);
  if (error) return <ErrorAlert title="Couldn't load the catalog" error={error} onRetry={() => void refetch()} />;
  if (!catalog) return <Skeleton height="6rem" label="Loading the catalog" />;
  const images = [
    ...catalog.map(({ custom, ...image }) => ({ ...image, origin: custom ? 'custom' : undefined })),
    ...ready
      .filter(({ name }) => !catalog.some((entry) => entry.name === name))
      .map(({ name, source }) => ({ name, description: source, defaultUser: '', origin: 'imported' })),
  ];
  if (images.length === 0) return <p className="hg-note">The catalog is empty. Choose another source.</p>;
  return (
    <div className="hg-images" role="radiogroup" aria-label="Image">
      {images.map(({ name, description, defaultUser, origin }) => (
        <label key={name} className="hg-image">
          <input type="radio" name="image" checked={chosen === name} onChange={() => onChange(name)} />
          <span>
            <b>{name}</b> {origin && <span className="hg-tag">{origin}</span>}
            <span className="hg-note">{description}</span>
          </span>
          {defaultUser && <span className="hg-note">User: {defaultUser}</span>}
        </label>
      ))}
    </div>
  );
}
