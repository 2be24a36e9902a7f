import { useState } from 'react';
import { keyed } from '../api/client.js';
import { useClient } from '../api/context.js';
import type { RuleList } from '../api/types.js';
import { windowText } from '../model/durations.js';
import { Field, Name } from '../ui/parts.js';
import { Plan, type PlanStep } from '../ui/plan.js';

const DAY_MS = 86_400_000;

interface Draft {
  readonly rule: string;
  readonly key: string;
  readonly factor: string;
  readonly days: string;
}

/** Why a draft can't be set yet; the listener checks the rest. */
function problemOf({ key, factor, days }: Draft): string | undefined {
  if (key.trim() === '') return 'Name the user, the room or the other key.';
  if (!(Number(factor) > 0 && Number(factor) <= 1000)) return 'The factor is above 0, and at most 1,000.';
  if (!(Number(days) > 0 && Number(days) <= 400)) return 'The override ends within 400 days.';
  return undefined;
}

/** What an override changes, in sentences. */
export function stepsOf({ rule, key, factor, days }: Draft, rules: RuleList): PlanStep[] {
  const rate = rules.rates.find(({ name }) => name === rule);
  const cap = rules.caps.find(({ name }) => name === rule);
  const times = Number(factor);
  const limit = Math.max(1, Math.round((rate ?? cap)?.limit ?? 0) * times);
  const until = new Date(Date.now() + Number(days) * DAY_MS).toLocaleDateString('en-CA');
  const than = (rate ?? cap) && ` ${Math.max(1, Math.round(limit))} instead of ${(rate ?? cap)!.limit}`;
  return [
    {
      tone: 'ok',
      text: (
        <>
          Until {until}, <Name>{key === '' ? 'the key' : key}</Name> has{' '}
          {than === undefined ? `${factor} times the limit of each rule by user or by room` : than}
          {rate && ` in ${windowText(rate.windowMs)}`}, at once and in open windows.
        </>
      ),
    },
    { tone: 'idle', text: 'Leaves the limits of all other keys, and blocks: lift a block on the page of its key.' },
  ];
}

export function AddOverride({ rules, onAdded, onClose }: { rules: RuleList; onAdded(): void; onClose(): void }) {
  const client = useClient();
  const [draft, setDraft] = useState<Draft>({ rule: '*', key: '', factor: '2', days: '30' });
  const change = (part: Partial<Draft>) => setDraft((last) => ({ ...last, ...part }));
  const names = [...rules.rates.filter(({ by }) => by !== undefined && by !== 'server'), ...rules.caps];
  const run = async (reason: string) => {
    const until = new Date(Date.now() + Number(draft.days) * DAY_MS).toISOString();
    const path = keyed(`/overrides/${encodeURIComponent(draft.rule)}`, draft.key.trim());
    await client.send('PUT', path, { factor: Number(draft.factor), until, reason });
    onAdded();
    return 'The override is in force.';
  };
  return (
    <Plan
      title="Add an override"
      steps={stepsOf(draft, rules)}
      action="Add the override"
      off={problemOf(draft)}
      run={run}
      onClose={onClose}
    >
      <Field label="Rule or cap">
        <select className="desk-input" value={draft.rule} onChange={({ target }) => change({ rule: target.value })}>
          <option value="*">All rules by user or by room</option>
          {names.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field label="User, room or other key of the rule">
        <input className="desk-input" value={draft.key} onChange={({ target }) => change({ key: target.value })} />
      </Field>
      <Field label="Times its limit">
        <input
          className="desk-input"
          inputMode="decimal"
          value={draft.factor}
          onChange={({ target }) => change({ factor: target.value })}
        />
      </Field>
      <Field label="Ends after days">
        <input
          className="desk-input"
          inputMode="decimal"
          value={draft.days}
          onChange={({ target }) => change({ days: target.value })}
        />
      </Field>
    </Plan>
  );
}
