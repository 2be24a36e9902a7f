import { useState } from 'react';
import { keyed } from '../api/client.js';
import { useAnswer, useClient } from '../api/context.js';
import type { Override, RuleList } from '../api/types.js';
import { clockTime } from '../model/durations.js';
import { Alert, Button, Cell, Name, PageHead } from '../ui/parts.js';
import { Plan } from '../ui/plan.js';
import { AddOverride } from './add-override.js';

/** Limits of single keys for a time: those in force, a new one, and the end of one. */
export function OverridesPage() {
  const { answer, error, reload } = useAnswer<{ overrides: Override[] }>('/overrides', 10_000);
  const { answer: rules } = useAnswer<RuleList>('/rules');
  const [open, setOpen] = useState<'add' | Override>();
  const close = () => setOpen(undefined);
  return (
    <>
      <main className="desk-main" id="main">
        <PageHead title="Overrides" note="Other limits for single users, rooms and other keys, for a time">
          <Button kind="primary" onClick={() => setOpen('add')}>
            Add…
          </Button>
        </PageHead>
        {error !== undefined && <Alert>{error}</Alert>}
        {answer?.overrides.length === 0 && (
          <p className="desk-card desk-second">There are none: every key has the limits of its rules.</p>
        )}
        {answer && answer.overrides.length > 0 && <List overrides={answer.overrides} onRemove={setOpen} />}
      </main>
      {open === 'add' && rules && <AddOverride rules={rules} onAdded={reload} onClose={close} />}
      {open !== undefined && open !== 'add' && (
        <RemoveOverride key={`${open.rule} ${open.key}`} override={open} onRemoved={reload} onClose={close} />
      )}
    </>
  );
}

const limitText = ({ factor, limit }: Override): string => (factor === undefined ? `${limit}` : `${factor} times`);

function List({ overrides, onRemove }: { overrides: readonly Override[]; onRemove: (one: Override) => void }) {
  return (
    <div className="desk-card">
      <table className="desk-table">
        <thead>
          <tr>
            {['Rule', 'Key', 'Limit', 'Ends', 'Reason', ''].map((label) => (
              <th key={label} scope="col">
                {label === '' ? <span className="desk-hidden">Action</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {overrides.map((one) => (
            <tr key={`${one.rule} ${one.key}`}>
              <Cell label="Rule">{one.rule === '*' ? 'all rules' : one.rule}</Cell>
              <Cell label="Key">
                <b>
                  <Name>{one.key}</Name>
                </b>
              </Cell>
              <Cell label="Limit">{limitText(one)}</Cell>
              <Cell label="Ends">
                <time dateTime={one.until}>{clockTime(one.until)}</time>
              </Cell>
              <Cell label="Reason">
                <Name>{one.reason}</Name>
              </Cell>
              <td>
                <Button onClick={() => onRemove(one)}>Remove…</Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RemoveProps {
  readonly override: Override;
  onRemoved(): void;
  onClose(): void;
}

function RemoveOverride({ override, onRemoved, onClose }: RemoveProps) {
  const client = useClient();
  const { rule, key } = override;
  const run = async (reason: string) => {
    await client.send(
      'DELETE',
      `${keyed(`/overrides/${encodeURIComponent(rule)}`, key)}&${new URLSearchParams({ reason })}`,
    );
    onRemoved();
    return 'Removed. The limit of the rule applies from now on.';
  };
  return (
    <Plan
      title={
        <>
          Remove the override of <Name>{key}</Name>
        </>
      }
      steps={[
        {
          tone: 'ok',
          text: `The limit of ${rule === '*' ? 'each rule' : rule} applies again at once, in place of ${limitText(override)}.`,
        },
        { tone: 'warn', text: 'A window that has counted more than that refuses until it ends.' },
        { tone: 'idle', text: 'Leaves counted requests, blocks and other overrides.' },
      ]}
      action="Remove the override"
      isDangerous
      run={run}
      onClose={onClose}
    />
  );
}
