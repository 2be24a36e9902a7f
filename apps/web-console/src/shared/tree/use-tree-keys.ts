import { useRef, type KeyboardEvent } from 'react';
import { nodeStartingWith, type TreeItem, type VisibleNode } from './visible-nodes.js';

/** Letters that follow each other within this time are one text. */
const TYPEAHEAD_MS = 700;

interface TreeKeys<N> {
  readonly shown: readonly VisibleNode<N>[];
  /** The index of the node with the focus. */
  readonly at: number;
  readonly focus: (id: string) => void;
  readonly toggle: (id: string) => void;
}

/** The keys of a tree, as in the patterns of ARIA: arrows, Home, End, Space, and the first letters of a name. */
export function useTreeKeys<N extends TreeItem<N>>({
  shown,
  at,
  focus,
  toggle,
}: TreeKeys<N>): (event: KeyboardEvent<HTMLElement>) => void {
  const typed = useRef({ text: '', at: 0 });

  const findTyped = (key: string, timeMs: number): VisibleNode<N> | undefined => {
    const { text, at: last } = typed.current;
    typed.current = { text: timeMs - last < TYPEAHEAD_MS ? text + key : key, at: timeMs };
    return nodeStartingWith(shown, at, typed.current.text);
  };

  return (event) => {
    const { key } = event;
    const current = shown[at];
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
    const { node, isOpen, parent } = current;
    const hasChildren = node.children.length > 0;
    const moves: Readonly<Record<string, () => string | undefined>> = {
      ArrowDown: () => shown[at + 1]?.node.id,
      ArrowUp: () => shown[at - 1]?.node.id,
      Home: () => shown[0]?.node.id,
      End: () => shown.at(-1)?.node.id,
      ArrowRight: () => (isOpen ? shown[at + 1]?.node.id : hasChildren ? void toggle(node.id) : undefined),
      ArrowLeft: () => (isOpen ? void toggle(node.id) : parent),
    };
    const move = moves[key];
    if (move) {
      const to = move();
      if (to !== undefined) focus(to);
    } else if (key === ' ') event.currentTarget.querySelector<HTMLElement>(':focus')?.click();
    else if (key.length === 1) {
      const found = findTyped(key, event.timeStamp);
      if (found) focus(found.node.id);
    } else return;
    // Not a shortcut of the page.
    event.preventDefault();
  };
}
