import { t } from '@lingui/core/macro';
import type { LeashDto } from '@headgate/api-contracts';
import { useId } from 'react';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';

const MAX_CHANGES = 10_000;
const APPROVALS: readonly LeashDto['approval'][] = ['destructive', 'all', 'none'];

/** The values of the form, as they were typed. */
export interface LeashDraft {
  readonly changes: string;
  readonly percent: string;
  readonly approval: LeashDto['approval'];
}

export const NEW_LEASH: LeashDraft = { changes: '20', percent: '25', approval: 'destructive' };

export const approvals = perLanguage((): Readonly<Record<LeashDto['approval'], string>> => ({
  destructive: t`Commits that destroy something`,
  all: t`All commits`,
  none: t`None`,
}));

const isBetween = (text: string, most: number): boolean =>
  /^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

/** @returns undefined for a valid leash */
export function leashProblem({ changes, percent }: LeashDraft): string | undefined {
  if (!isBetween(changes, MAX_CHANGES)) return t`An agent may change 1 to ${MAX_CHANGES} instances in an hour.`;
  if (!isBetween(percent, 100)) return t`An agent may change 1 to 100% of a folder in an hour.`;
  return undefined;
}

export const leashOf = ({ changes, percent, approval }: LeashDraft): LeashDto => ({
  changesPerHour: Number(changes),
  maxPercentOfFolder: Number(percent),
  approval,
});

/** The limits of a token for an agent. */
export function LeashFields({ leash, onChange }: { leash: LeashDraft; onChange: (leash: LeashDraft) => void }) {
  const id = useId();
  return (
    <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
      <LabeledInput
        label={t`Changes per hour`}
        inputMode="numeric"
        value={leash.changes}
        onChange={(changes) => onChange({ ...leash, changes })}
      />
      <LabeledInput
        label={t`Most of a folder (%)`}
        inputMode="numeric"
        value={leash.percent}
        onChange={(percent) => onChange({ ...leash, percent })}
      />
      <Field label={t`Approval by a user`} id={id}>
        <SelectInput
          id={id}
          value={leash.approval}
          onChange={(approval) => onChange({ ...leash, approval: approval as LeashDto['approval'] })}
        >
          {APPROVALS.map((approval) => (
            <option key={approval} value={approval}>
              {approvals()[approval]}
            </option>
          ))}
        </SelectInput>
      </Field>
    </div>
  );
}
