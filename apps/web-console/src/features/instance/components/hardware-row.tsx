import { t } from '@lingui/core/macro';
import { useId, type ReactNode } from 'react';
import type { Instance } from '../../../shared/instances/instance.js';
import { readableSizes } from '../../../shared/quantity/quantity.js';
import { Button } from '../../../shared/ui/button.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { endDrafts, setDraft, type Drafts } from '../hardware-drafts.js';
import { isBoxChanged, isChanged, isOvertaken, textOf, type Row } from '../hardware-rows.js';

/** When a change takes effect, or why it does not. */
export interface RowState {
  readonly effect?: string | undefined;
  readonly problem?: string | undefined;
}

/** What all rows of a table have in common. */
export interface TableState {
  readonly vm: Instance;
  readonly drafts: Drafts;
  /** Why the user may change nothing. */
  readonly refusal: string | undefined;
  /** The ID of the text with the refusal. */
  readonly noteId: string;
  readonly stateOf: (row: Row) => RowState;
}

interface HardwareRowProps {
  table: TableState;
  row: Row;
  name: string;
  /** Whether the name is that of a device and not a text. */
  isDevice?: boolean;
  what?: ReactNode;
  value: ReactNode;
  actions?: ReactNode;
}

/** A device or a setting, which is edited in its place. */
export function HardwareRow({ table, row, name, isDevice = false, what = '', value, actions }: HardwareRowProps) {
  const { vm, drafts, refusal, stateOf } = table;
  const changed = isChanged(row, drafts);
  const removed = isRemoved(row, drafts);
  const { effect, problem } = changed ? stateOf(row) : {};
  const mark = !changed ? undefined : row.isNew ? 'added' : removed ? 'removed' : 'changed';
  return (
    <tr data-change={mark}>
      <td>
        <b translate={isDevice ? 'no' : undefined}>{name}</b>
        {mark !== undefined && <span className="hg-change-mark"> {marks()[mark]}</span>}
      </td>
      <td className="hg-note">{what}</td>
      <td>
        <div className="hg-hardware-value">{removed ? <del>{removedText(row)}</del> : value}</div>
        {isOvertaken(row, drafts) && <p className="hg-note hg-status--warning">{overtakenText(row)}</p>}
        {problem !== undefined && <p className="hg-status--danger">{problem}</p>}
      </td>
      <td>{effect !== undefined && <span className="hg-tag">{effect}</span>}</td>
      <td>
        {changed ? (
          <Button
            variant="link"
            aria-label={t`Undo the change of ${name}`}
            onClick={() =>
              endDrafts(
                vm,
                Object.values(row.boxes).map(({ field }) => field),
              )
            }
          >
            {t`Undo`}
          </Button>
        ) : (
          actions !== undefined && refusal === undefined && <div className="hg-toolbar">{actions}</div>
        )}
      </td>
    </tr>
  );
}

const marks = perLanguage(() => ({ added: t`added`, removed: t`removed`, changed: t`changed` }));

const isRemoved = (row: Row, drafts: Drafts): boolean => textOf(row, 'removal', drafts) !== '';

const presentText = ({ boxes }: Row): string =>
  Object.entries(boxes)
    .flatMap(([name, { saved }]) => (name === 'removal' || saved === '' ? [] : [saved]))
    .join(', ');

function overtakenText(row: Row): string {
  const present = readableSizes(presentText(row)) || t`empty`;
  return t`Changed by someone else meanwhile: it is ${present} now.`;
}

const removedText = (row: Row): string => readableSizes(presentText(row)) || t`attached`;

interface BoxInputProps {
  table: TableState;
  row: Row;
  box: string;
  label: string;
  placeholder?: string;
}

/** A value that is edited in place. The present one is crossed out next to another one. */
export function BoxInput({
  table: { vm, drafts, refusal, noteId, stateOf },
  row,
  box,
  label,
  placeholder,
}: BoxInputProps) {
  const id = useId();
  const { field = '', saved = '' } = row.boxes[box] ?? {};
  const changed = isBoxChanged({ field, saved }, drafts);
  return (
    <>
      {changed && saved !== '' && (
        <>
          <del>{readableSizes(saved)}</del>
          <span aria-hidden="true">→</span>
        </>
      )}
      <TextInput
        id={id}
        aria-label={label}
        placeholder={placeholder}
        value={textOf(row, box, drafts)}
        isInvalid={changed && stateOf(row).problem !== undefined}
        readOnly={refusal !== undefined}
        aria-describedby={refusal === undefined ? undefined : noteId}
        onChange={(text) => setDraft(vm, field, text, saved)}
      />
    </>
  );
}

interface BoxButtonProps {
  table: TableState;
  row: Row;
  box: string;
  /** The text that a click sets. */
  text: string;
  label: string;
  /** Why it is unavailable, besides the refusal of all changes. */
  reason?: string | undefined;
  children: ReactNode;
}

/** Sets a value with a click. */
export function BoxButton({ table: { vm, refusal }, row, box, text, label, reason, children }: BoxButtonProps) {
  const { field = '', saved = '' } = row.boxes[box] ?? {};
  return (
    <ReasonedButton
      variant="link"
      aria-label={label}
      reason={refusal ?? reason}
      onClick={() => setDraft(vm, field, text, saved)}
    >
      {children}
    </ReasonedButton>
  );
}
