import { useLayoutEffect, useRef } from 'react';

/**
 * The lines of a log, which may grow. It follows the last line unless the user has scrolled up. All of them are one
 * text, so that thousands of lines cost one node.
 */
export function LogText({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={box}
      className="hg-container-log"
      role="region"
      dir="ltr"
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 8;
      }}
    >
      {text}
    </pre>
  );
}
