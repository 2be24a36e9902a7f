import { t } from '@lingui/core/macro';
import { useRef } from 'react';
import type { CloudInitProblemView } from '@headgate/api-contracts';
import { Button } from '../../../shared/ui/button.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useCloudInitCheck } from '../api/use-cloud-init-check.js';
import { cloudInitWarning, type CloudInit } from '../cloud-init.js';

interface UserDataFieldProps {
  value: CloudInit;
  onChange: (text: string) => void;
  /** The service's error message. */
  problem?: string | undefined;
}

/** User data as text, with the problems that the service finds in it at their lines. */
export function UserDataField({ value, onChange, problem }: UserDataFieldProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const problems = useCloudInitCheck(value.text);
  const isInvalid = problem !== undefined || (problems?.some(({ severity }) => severity === 'error') ?? false);
  const hint = problems?.length === 0 ? t`cloud-init reads this text on first boot. No problem was found in it.` : null;
  const select = ({ line, column }: CloudInitProblemView): void => {
    const before = value.text.split('\n').slice(0, line - 1);
    const start = before.reduce((length, one) => length + one.length + 1, 0);
    const end = value.text.indexOf('\n', start);
    area.current?.focus();
    area.current?.setSelectionRange(start + column - 1, end === -1 ? value.text.length : end);
  };
  return (
    <Field
      label={t`User data`}
      id="cloud-init"
      problem={problem}
      hint={hint ?? cloudInitWarning(value) ?? t`cloud-init reads this text on first boot.`}
    >
      <textarea
        ref={area}
        id="cloud-init"
        className="hg-input hg-code"
        rows={12}
        value={value.text}
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby={helpId('cloud-init')}
        onChange={(event) => onChange(event.target.value)}
      />
      {problems !== undefined && problems.length > 0 && (
        <ul className="hg-text-problems" aria-label={t`Problems in the user data`} aria-live="polite">
          {problems.map((one) => (
            <li key={`${one.line} ${one.column} ${one.message}`}>
              <Icon
                name={one.severity === 'error' ? 'diamond' : 'triangle'}
                className={one.severity === 'error' ? 'hg-status--danger' : 'hg-status--warning'}
              />
              <Button variant="link" onClick={() => select(one)}>
                {t`Line ${one.line}, column ${one.column}`}
              </Button>
              <span>{one.message}</span>
            </li>
          ))}
        </ul>
      )}
    </Field>
  );
}
