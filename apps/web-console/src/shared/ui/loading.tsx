/** A spinner in the middle of an empty page, or of a dialog's body. */
export function Spinner({ label, isCentered = false }: { label: string; isCentered?: boolean }) {
  return (
    <span role="progressbar" aria-label={label} className={isCentered ? 'hg-spinner hg-centered' : 'hg-spinner'} />
  );
}

/** A gray area the size of the content that is being loaded. */
export function Skeleton({ height, label }: { height: string; label: string }) {
  return (
    <div className="hg-skeleton" style={{ height }}>
      <span className="hg-hidden">{label}</span>
    </div>
  );
}
