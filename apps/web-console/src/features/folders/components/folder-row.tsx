import { t } from '@lingui/core/macro';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import type { VisibleNode } from '../../../shared/tree/visible-nodes.js';
import { Icon } from '../../../shared/ui/icon.js';
import { OUTSIDE, type FolderNode } from '../folder-nodes.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** The name of a folder, and its sums under the labels of the columns, which screen readers get with each number. */
export function FolderRow({ row: { node, isOpen } }: { row: VisibleNode<FolderNode> }) {
  const { total, running, failing, cpu, memoryBytes } = node.sums;
  return (
    <>
      <span className="hg-folder-name">
        <span className="hg-tree-toggle" aria-hidden="true">
          {node.children.length > 0 && <Icon name={isOpen ? 'expandDown' : 'next'} />}
        </span>
        <Icon name={isOpen ? 'folderOpen' : 'folder'} />
        {node.id === OUTSIDE ? (
          <span className="hg-note">{node.label}</span>
        ) : (
          <span className="hg-folder-label" title={node.id} translate="no">
            {node.label}
          </span>
        )}
      </span>
      <Sum text={readableNumber(total)} unit={total === 1 ? t`member` : t`members`} />
      <Sum text={readableNumber(running)} unit={t`running`} />
      <span className={`hg-numeric hg-folder-failing${failing > 0 ? ' hg-status hg-status--danger' : ''}`}>
        {failing > 0 ? <Icon name="diamond" /> : null}
        <span>{failing > 0 ? readableNumber(failing) : '–'}</span>
        <span className="hg-folder-unit"> {t`failing`}</span>
        <span className="hg-hidden-text">,</span>
      </span>
      <Sum text={readableNumber(cpu)} unit={cpu === 1 ? t`promised CPU` : t`promised CPUs`} />
      <Sum text={readableBytes(memoryBytes)} unit={t`of promised memory`} isLast />
    </>
  );
}

interface SumProps {
  text: string;
  unit: string;
  isLast?: boolean;
}

const Sum = ({ text, unit, isLast = false }: SumProps) => (
  <span className="hg-numeric">
    <span> {text}</span>
    <span className="hg-folder-unit"> {unit}</span>
    {!isLast && <span className="hg-hidden-text">,</span>}
  </span>
);
