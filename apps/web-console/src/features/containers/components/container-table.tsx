import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import type { ContainerView } from '@headgate/api-contracts';
import { Link, useLocation } from 'wouter';
import { places } from '../../../shared/location/places.js';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import type { IconName } from '../../../icons.js';
import { Icon } from '../../../shared/ui/icon.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { containerRefusal, useContainerAction } from '../use-container-action.js';

interface ContainerTableProps {
  rows: readonly ContainerView[];
  /** Why this person may change nothing. */
  refusal: string | undefined;
  onDelete: (ct: ContainerView) => void;
}

export function ContainerTable({ rows, refusal, onDelete }: ContainerTableProps) {
  return (
    <div className="hg-list">
      <Table variant="compact" gridBreakPoint="" aria-label="Containers">
        <Thead>
          <Tr>
            <Th>Name</Th>
            <Th>Status</Th>
            <Th width={25}>Image</Th>
            <Th className="hg-numeric">CPU</Th>
            <Th className="hg-numeric">Memory</Th>
            <Th>Node</Th>
            <Th>Namespace</Th>
            <Th>Context</Th>
            <Th screenReaderText="Actions" />
          </Tr>
        </Thead>
        <Tbody>
          {rows.map((ct) => (
            <Tr key={ct.ref} className={ct.stale ? 'hg-row--stale' : ''}>
              <Td>
                <Link href={places.container(ct)}>{ct.name}</Link>{' '}
                {ct.privileged && <span className="hg-note">privileged</span>}
              </Td>
              <Td>
                <StatusLabel status={ct.phase} reason={ct.reason} stale={ct.stale} />
              </Td>
              <Td modifier="truncate">{ct.image}</Td>
              <Td className="hg-numeric">{ct.cpu}</Td>
              <Td className="hg-numeric">{readableQuantity(ct.mem)}</Td>
              <Td>{ct.node}</Td>
              <Td>{ct.namespace}</Td>
              <Td>{ct.context}</Td>
              <Td>
                <ContainerActions ct={ct} refusal={refusal} onDelete={onDelete} />
              </Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
    </div>
  );
}

function ContainerActions({ ct, refusal, onDelete }: { ct: ContainerView } & Omit<ContainerTableProps, 'rows'>) {
  const [, navigate] = useLocation();
  const { mutate } = useContainerAction();
  const action = ct.phase === 'Stopped' ? 'start' : 'stop';
  const buttons: readonly { label: string; icon: IconName; reason: string | undefined; run: () => void }[] = [
    {
      label: action === 'start' ? 'Start' : 'Stop',
      icon: action === 'start' ? 'play' : 'power',
      reason: refusal ?? containerRefusal(ct, action),
      run: () => mutate({ ct, action }),
    },
    { label: 'Shell in', icon: 'terminal', reason: undefined, run: () => navigate(places.container(ct)) },
    { label: 'Delete', icon: 'trash', reason: refusal, run: () => onDelete(ct) },
  ];
  return (
    <span className="hg-row-actions">
      {buttons.map(({ label, icon, reason, run }) => (
        <button
          key={label}
          type="button"
          className="hg-icon-button"
          aria-label={`${label} ${ct.name}`}
          title={reason ?? label}
          aria-disabled={reason !== undefined}
          onClick={() => reason === undefined && run()}
        >
          <Icon name={icon} />
        </button>
      ))}
    </span>
  );
}
