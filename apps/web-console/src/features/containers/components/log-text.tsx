import { useFollowEnd } from '../../../shared/ui/use-follow-end.js';

/**
 * The lines of a log, which may grow. It follows the last line unless the user has scrolled up. All of them are one
 * text, so that thousands of lines cost one node.
 */
export function LogText({ text, label }: { text: string; label: string }) {
  const followed = useFollowEnd<HTMLPreElement>(text);
  return (
    <pre className="hg-container-log" role="region" dir="ltr" tabIndex={0} aria-label={label} {...followed}>
      {text}
    </pre>
  );
}
