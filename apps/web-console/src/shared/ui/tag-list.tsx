const SHOWN = 2;
/** Each has an edge and a gap, as wide as some characters. */
const EDGES = 3;

/** About how many characters the tags that are shown take. */
export const tagsLength = ({ tags }: { tags: readonly string[] }): number =>
  tags.slice(0, SHOWN).reduce((sum, tag) => sum + tag.length + EDGES, tags.length > SHOWN ? EDGES + 2 : 0);

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
      {rest > 0 && <span className="hg-tag hg-tag--rest">+{rest}</span>}
    </span>
  );
}
