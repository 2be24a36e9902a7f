const SHOWN = 2;

/** The first tags; the others are counted and stand in the hint. */
export function TagList({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  const rest = tags.length - SHOWN;
  return (
    <span className="hg-tags" title={tags.join(', ')}>
      {tags.slice(0, SHOWN).map((tag) => (
        <span key={tag} className="hg-tag">
          {tag}
        </span>
      ))}
      {rest > 0 && <span className="hg-tag">+{rest}</span>}
    </span>
  );
}
