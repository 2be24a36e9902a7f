import { Button, Dropdown, DropdownItem, DropdownList, MenuToggle } from '@patternfly/react-core';
import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { countOf, type BulkOperation, type ListKind } from '../list-kind.js';
import type { Selection } from '../use-selection.js';
import { BulkDialog } from './bulk-dialog.js';

interface BulkBarProps<E extends Instance> {
  kind: ListKind<E>;
  selection: Selection<E>;
  rows: readonly E[];
  operations: readonly BulkOperation<E>[];
}

/** What can be done with the marked rows, in one go. */
export function BulkBar<E extends Instance>({ kind, selection, rows, operations }: BulkBarProps<E>) {
  const [operation, setOperation] = useState<BulkOperation<E>>();
  const { members, refs } = selection;
  const hidden = members.length - rows.reduce((sum, { ref }) => sum + (refs.has(ref) ? 1 : 0), 0);

  return (
    <div className="hg-chips hg-bulk" role="toolbar" aria-label={`Actions for the selected ${kind.many}`}>
      <b role="status">
        {members.length.toLocaleString('en')} selected
        {hidden > 0 && `, ${hidden.toLocaleString('en')} of them not shown`}
      </b>
      {operations
        .filter(({ inMenu }) => !inMenu)
        .map((one) => (
          <Button
            key={one.name}
            size="sm"
            variant="secondary"
            isDanger={one.isDanger === true}
            icon={<Icon name={one.icon} />}
            onClick={() => setOperation(one)}
          >
            {one.label}
          </Button>
        ))}
      <MoreOperations operations={operations.filter(({ inMenu }) => inMenu)} onChoose={setOperation} />
      {members.length < rows.length && (
        <Button size="sm" variant="link" onClick={selection.all}>
          Select all {countOf(kind, rows.length)} shown
        </Button>
      )}
      <Button size="sm" variant="link" onClick={selection.none}>
        Clear selection
      </Button>
      {operation && (
        <BulkDialog
          kind={kind}
          operation={operation}
          members={members}
          onClose={() => setOperation(undefined)}
          onSelect={(failed) => {
            selection.only(failed.map(({ ref }) => ref));
            setOperation(undefined);
          }}
        />
      )}
    </div>
  );
}

interface MoreOperationsProps<E> {
  operations: readonly BulkOperation<E>[];
  onChoose: (operation: BulkOperation<E>) => void;
}

function MoreOperations<E>({ operations, onChoose }: MoreOperationsProps<E>) {
  const [open, setOpen] = useState(false);
  if (operations.length === 0) return null;
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => setOpen(false)}
      toggle={(ref) => (
        <MenuToggle ref={ref} size="sm" isExpanded={open} onClick={() => setOpen(!open)}>
          More
        </MenuToggle>
      )}
    >
      <DropdownList>
        {operations.map((one) => (
          <DropdownItem key={one.name} icon={<Icon name={one.icon} />} onClick={() => onChoose(one)}>
            {one.label}
          </DropdownItem>
        ))}
      </DropdownList>
    </Dropdown>
  );
}
