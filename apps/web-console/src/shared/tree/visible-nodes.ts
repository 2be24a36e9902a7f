/** A node of a tree. */
export interface TreeItem<N> {
  /** Unique in its tree, and the same after a reload. */
  readonly id: string;
  readonly label: string;
  readonly children: readonly N[];
}

/** A node that is shown, with its position for screen readers. */
export interface VisibleNode<N> {
  readonly node: N;
  /** From 1. */
  readonly level: number;
  /** Among its siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  readonly isOpen: boolean;
  readonly parent: string | undefined;
}

/** The nodes whose parents are all open, in the order of the tree. */
export function visibleNodes<N extends TreeItem<N>>(
  nodes: readonly N[],
  open: ReadonlySet<string>,
  level = 1,
  parent?: string,
): VisibleNode<N>[] {
  return nodes.flatMap((node, index) => {
    const isOpen = node.children.length > 0 && open.has(node.id);
    const shown = { node, level, position: index + 1, siblings: nodes.length, isOpen, parent };
    return isOpen ? [shown, ...visibleNodes(node.children, open, level + 1, node.id)] : [shown];
  });
}

/** The next shown node after this one whose name begins with the text, from the top again after the last one. */
export function nodeStartingWith<N extends TreeItem<N>>(
  shown: readonly VisibleNode<N>[],
  after: number,
  text: string,
): VisibleNode<N> | undefined {
  const start = text.toLowerCase();
  const from = text.length > 1 ? after : after + 1;
  return [...shown.slice(from), ...shown.slice(0, from)].find(({ node }) => node.label.toLowerCase().startsWith(start));
}
