import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useImages } from '../api/use-images.js';

/** The catalog: built-in images first, then custom ones. */
export function ImageList({ chosen, onChange }: { chosen: string; onChange: (image: string) => void }) {
  const { data: images, error, refetch } = useImages();
  if (error) return <ErrorAlert title="Couldn't load the catalog" error={error} onRetry={() => void refetch()} />;
  if (!images) return <Skeleton height="6rem" label="Loading the catalog" />;
  if (images.length === 0) return <p className="hg-note">The catalog is empty. Choose another source.</p>;
  return (
    <div className="hg-images" role="radiogroup" aria-label="Image">
      {images.map(({ name, description, defaultUser, custom }) => (
        <label key={name} className="hg-image">
          <input type="radio" name="image" checked={chosen === name} onChange={() => onChange(name)} />
          <span>
            <b>{name}</b> {custom && <span className="hg-tag">custom</span>}
            <span className="hg-note">{description}</span>
          </span>
          {defaultUser && <span className="hg-note">User: {defaultUser}</span>}
        </label>
      ))}
    </div>
  );
}
