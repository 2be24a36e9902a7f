import { Skeleton } from '@patternfly/react-core';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { useImages } from '../api/use-images.js';

/** The catalog: built-in images first, then the operator's own. */
export function ImageList({ chosen, onChange }: { chosen: string; onChange: (image: string) => void }) {
  const { data: images, error, refetch } = useImages();
  if (error) return <ErrorAlert title="The catalog can't be shown" error={error} onRetry={() => void refetch()} />;
  if (!images) return <Skeleton height="6rem" screenreaderText="Loading the catalog" />;
  if (images.length === 0) return <p className="hg-note">The catalog is empty. Choose another source.</p>;
  return (
    <div className="hg-images" role="radiogroup" aria-label="Image">
      {images.map(({ name, description, defaultUser, custom }) => (
        <label key={name} className="hg-image">
          <input type="radio" name="image" checked={chosen === name} onChange={() => onChange(name)} />
          <span>
            <b>{name}</b> {custom && <span className="hg-tag">own</span>}
            <span className="hg-note">{description}</span>
          </span>
          {defaultUser && <span className="hg-note">user {defaultUser}</span>}
        </label>
      ))}
    </div>
  );
}
