import { t } from '@lingui/core/macro';
import { useRef, useState, type CSSProperties, type DragEvent, type MouseEvent } from 'react';
import { paths } from '../../../shared/location/paths.js';
import { useTreeKeys } from '../../../shared/tree/use-tree-keys.js';
import { visibleNodes, type VisibleNode } from '../../../shared/tree/visible-nodes.js';
import type { Dragged } from '../folder-drag.js';
import { OUTSIDE, type FolderNode } from '../folder-nodes.js';
import { FolderRow } from './folder-row.js';
import { TopRow } from './top-row.js';

interface FolderTreeProps {
  nodes: readonly FolderNode[];
  opened: ReadonlySet<string>;
  onToggle: (id: string) => void;
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Opens the menu of a folder at a point of the window. */
  onMenu: (id: string, at: { readonly x: number; readonly y: number }) => void;
  canDrag: boolean;
  dragged: Dragged | undefined;
  onDrag: (dragged: Dragged | undefined) => void;
  /** Why the dragged one can't be put there. */
  refusal: (target: string) => string | undefined;
  over: string | undefined;
  onOver: (target: string | undefined) => void;
  onDrop: (target: string) => void;
}

/** All folders with their sums. Only one row is in the order of the focus; the keys of a tree reach the others. */
export function FolderTree(props: FolderTreeProps) {
  const { nodes, opened, onToggle, selected, onSelect, onMenu, canDrag, dragged, onDrag } = props;
  const [active, setActive] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const shown = visibleNodes(nodes, opened);
  const at = Math.max(
    shown.findIndex(({ node }) => node.id === (active ?? selected)),
    0,
  );
  const focus = (id: string): void => {
    setActive(id);
    const items = tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]') ?? [];
    items[shown.findIndex(({ node }) => node.id === id)]?.focus();
  };
  const onKeyDown = useTreeKeys({ shown, at, focus, toggle: onToggle });
  const onClick = (event: MouseEvent, id: string): void => {
    // The address is replaced, as in each list with details.
    event.preventDefault();
    setActive(id);
    if ((event.target as Element).closest('.hg-tree-toggle')) onToggle(id);
    else onSelect(id);
  };
  const openMenu = (event: MouseEvent<HTMLElement>, id: string): void => {
    if (id === OUTSIDE) return;
    event.preventDefault();
    const { left, bottom } = event.currentTarget.getBoundingClientRect();
    // The key for menus has no position.
    onMenu(
      id,
      event.clientX === 0 && event.clientY === 0 ? { x: left, y: bottom } : { x: event.clientX, y: event.clientY },
    );
  };
  const begin = (event: DragEvent, id: string): void => {
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', id);
    onDrag({ folder: id });
  };
  return (
    <div className="hg-folders">
      <TopRow {...dropProps(props, '', dragged !== undefined && 'folder' in dragged)} isDragging={isNested(dragged)} />
      <div ref={tree} role="tree" aria-label={t`Folders`} onKeyDown={onKeyDown}>
        {shown.map((row, index) => {
          const { id } = row.node;
          return (
            <a
              key={id}
              {...treeProps(row, id === selected)}
              href={`#${paths.folders}?${new URLSearchParams({ peek: id })}`}
              tabIndex={index === at ? 0 : -1}
              draggable={canDrag && id !== OUTSIDE}
              onDragStart={(event) => begin(event, id)}
              onDragEnd={() => onDrag(undefined)}
              onClick={(event) => onClick(event, id)}
              onContextMenu={(event) => openMenu(event, id)}
              onFocus={() => setActive(id)}
              {...dropProps(props, id, id !== OUTSIDE || (dragged !== undefined && 'member' in dragged))}
            >
              <FolderRow row={row} />
            </a>
          );
        })}
      </div>
    </div>
  );
}

const isNested = (dragged: Dragged | undefined): boolean =>
  dragged !== undefined && 'folder' in dragged && dragged.folder.includes('/');

const treeProps = ({ node, level, position, siblings, isOpen }: VisibleNode<FolderNode>, isSelected: boolean) => ({
  role: 'treeitem',
  style: { '--hg-level': level - 1 } as CSSProperties,
  'aria-level': level,
  'aria-posinset': position,
  'aria-setsize': siblings,
  'aria-expanded': node.children.length > 0 ? isOpen : undefined,
  'aria-selected': isSelected,
});

/** @param isTarget whether this kind of thing can be put there at all */
function dropProps({ dragged, refusal, over, onOver, onDrop }: FolderTreeProps, target: string, isTarget: boolean) {
  const isOver = over === target && isTarget;
  const isLegal = dragged !== undefined && isTarget && refusal(target) === undefined;
  const state = dragged === undefined ? '' : isLegal ? '' : ' hg-folder--off';
  return {
    className: `hg-folder${state}${isOver && isLegal ? ' hg-folder--over' : ''}`,
    onDragOver: (event: DragEvent): void => {
      if (!dragged || !isTarget) return;
      // The reason is shown over a folder that refuses, too.
      if (!isOver) onOver(target);
      if (!isLegal) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'move';
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent): void => {
      if (isOver && !currentTarget.contains(relatedTarget as Element | null)) onOver(undefined);
    },
    onDrop: (event: DragEvent): void => {
      event.preventDefault();
      if (isLegal) onDrop(target);
    },
  };
}
