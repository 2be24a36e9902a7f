import { memo, useRef, useState, type CSSProperties, type MouseEvent } from 'react';
import { paths } from '../../../shared/location/paths.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { useTreeKeys } from '../../../shared/tree/use-tree-keys.js';
import { visibleNodes } from '../../../shared/tree/visible-nodes.js';
import { Icon } from '../../../shared/ui/icon.js';
import type { TreeNode } from './tree-node.js';
import { readableNumber } from '../../../shared/texts/formats.js';

interface InventoryTreeProps {
  nodes: readonly TreeNode[];
  /** Names the storage of the open nodes. */
  name: string;
  label: string;
  /** The query of the list on the page. */
  query: string | undefined;
}

const NONE: readonly string[] = [];

/** A tree of links to the lists of VMs. Only one node is in the order of the focus; the arrow keys reach the others. */
export const InventoryTree = memo(function InventoryTree({ nodes, name, label, query }: InventoryTreeProps) {
  const [opened, setOpened] = useRemembered(`inventory-${name}`, NONE);
  const [active, setActive] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const shown = visibleNodes(nodes, new Set(opened));
  const found = shown.findIndex(({ node }) => (active === undefined ? node.query === query : node.id === active));
  const at = Math.max(found, 0);

  const toggle = (id: string): void =>
    setOpened(opened.includes(id) ? opened.filter((one) => one !== id) : [...opened, id]);
  const focus = (id: string): void => {
    setActive(id);
    const items = tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]') ?? [];
    items[shown.findIndex(({ node }) => node.id === id)]?.focus();
  };
  const onKeyDown = useTreeKeys({ shown, at, focus, toggle });
  const onClick = (event: MouseEvent, id: string): void => {
    setActive(id);
    if (!(event.target as Element).closest('.hg-tree-toggle')) return;
    event.preventDefault();
    toggle(id);
  };

  return (
    <div ref={tree} role="tree" aria-label={label} className="hg-tree" onKeyDown={onKeyDown}>
      {shown.map(({ node, level, position, siblings, isOpen }, index) => (
        <a
          key={node.id}
          role="treeitem"
          href={`#${paths.fleet}?${new URLSearchParams({ q: node.query })}`}
          className="hg-tree-item"
          style={{ '--hg-level': level - 1 } as CSSProperties}
          aria-level={level}
          aria-posinset={position}
          aria-setsize={siblings}
          aria-expanded={node.children.length > 0 ? isOpen : undefined}
          aria-selected={node.query === query}
          tabIndex={index === at ? 0 : -1}
          title={node.label}
          translate={node.isText ? undefined : 'no'}
          onClick={(event) => onClick(event, node.id)}
          onFocus={() => setActive(node.id)}
        >
          <span className="hg-tree-toggle" aria-hidden="true">
            {node.children.length > 0 && <Icon name={isOpen ? 'expandDown' : 'next'} />}
          </span>
          <Icon name={isOpen && node.icon === 'folder' ? 'folderOpen' : node.icon} />
          <span className="hg-side-label">{node.label}</span>
          <span className="hg-side-count"> {readableNumber(node.count)}</span>
        </a>
      ))}
    </div>
  );
});
