import { InstanceStatus } from '../../../../shared/instances/instance-status.js';
import { Icon } from '../../../../shared/ui/icon.js';
import type { PaletteOption } from '../palette-option.js';
import { markOf } from '../text-rank.js';

interface PaletteItemProps {
  id: string;
  option: PaletteOption;
  text: string;
  isActive: boolean;
  onChoose: (option: PaletteOption) => void;
}

/** One result: its name, its place, its state, or why it can't be chosen. */
export function PaletteItem({ id, option, text, isActive, onChoose }: PaletteItemProps) {
  const { label, icon, detail, instance, reason, isDanger, isData = false } = option;
  return (
    // The keys of the input choose it as well.
    <div
      id={id}
      role="option"
      className={`hg-palette-item${isDanger ? ' hg-status--danger' : ''}`}
      aria-selected={isActive}
      aria-disabled={reason === undefined ? undefined : true}
      onClick={() => onChoose(option)}
    >
      <Icon name={icon} />
      <span className="hg-palette-label" translate={isData ? 'no' : undefined}>
        <MarkedLabel label={label} text={text} />
      </span>
      {/* The spaces separate the parts for screen readers. */}{' '}
      {detail !== undefined && <span className="hg-palette-detail">{detail}</span>}{' '}
      {instance && <InstanceStatus instance={instance} inRow />}
      {reason !== undefined && <span className="hg-palette-reason">{reason}</span>}
    </div>
  );
}

function MarkedLabel({ label, text }: { label: string; text: string }) {
  // After a verb, only the name is in the label.
  const mark = markOf(label, text) ?? markOf(label, text.trim().split(/\s+/).at(-1) ?? '');
  if (!mark) return label;
  const [from, to] = mark;
  return (
    <>
      {label.slice(0, from)}
      <b>{label.slice(from, to)}</b>
      {label.slice(to)}
    </>
  );
}
