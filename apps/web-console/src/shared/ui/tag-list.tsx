const SHOWN = 2;
/** The padding and gap of a tag, in characters. */
const EDGES = 3;

/** The approximate width of the tags shown, in characters. */
export const tagsLength = ({ tags }: { tags: readonly string[] }): number =>
  tags.slice(0, SHOWN).reduce((sum, tag) => sum + tag.length + EDGES, tags.length > SHOWN ? EDGES + 2 : 0);

/** The first tags and the number of the others; the tooltip lists all. */
export function TagList({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  const rest = tags.length - SHOWN;
  return (
    <span className="hg-tags" title={tags.join(', ')} translate="no">
      {tags.slice(0, SHOWN).map((tag) => (
        <span key={tag} className="hg-tag">
          {tag}
        </span>
      ))}
      {rest > 0 && <span className="hg-tag">+{rest}</span>}
    </span>
  );
}
