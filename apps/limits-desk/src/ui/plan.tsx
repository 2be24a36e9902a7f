import { type ReactNode, useEffect, useRef, useState } from 'react';
import { sentenceOf } from '../api/client.js';
import { Alert, Button, Field, Shape, type Tone } from './parts.js';

export interface PlanStep {
  readonly tone: Tone;
  readonly text: ReactNode;
}

interface PlanProps {
  readonly title: ReactNode;
  readonly steps: readonly PlanStep[];
  /** What the button does: never "OK". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Fields above the reason. */
  readonly children?: ReactNode;
  /** Why the action can't be carried out yet. */
  readonly off?: string | undefined;
  /** @returns the sentence about the result */
  run(reason: string): Promise<ReactNode>;
  onClose(): void;
}

/** Says what an action changes and what it leaves, and carries it out when one button is pressed. */
export function Plan({ title, steps, action, isDangerous = false, children, off, run, onClose }: PlanProps) {
  const [reason, setReason] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [result, setResult] = useState<ReactNode>();
  const [error, setError] = useState<string>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const missing = off ?? (reason.trim() === '' ? 'Give a reason: the journal keeps it.' : undefined);
  const submit = async () => {
    if (missing !== undefined || isRunning) return;
    setRunning(true);
    setError(undefined);
    try {
      setResult(await run(reason));
    } catch (failure) {
      setError(sentenceOf(failure));
    }
    setRunning(false);
  };
  return (
    <aside
      className="desk-plan"
      aria-label="Plan"
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose();
      }}
    >
      <header>
        <h2 tabIndex={-1} ref={heading}>
          {title}
        </h2>
        <Button kind="plain" aria-label="Close the plan" onClick={onClose}>
          ✕
        </Button>
      </header>
      {result === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <p className="desk-second">Nothing has happened yet.</p>
          <ul>
            {steps.map(({ tone, text }, index) => (
              <li key={index}>
                <span className="desk-state" data-tone={tone}>
                  <Shape tone={tone} />
                </span>
                <span>{text}</span>
              </li>
            ))}
          </ul>
          {children}
          <Field label="Reason (for the journal)">
            <input
              className="desk-input"
              value={reason}
              maxLength={200}
              onChange={({ target }) => setReason(target.value)}
            />
          </Field>
          {error !== undefined && <Alert>{error}</Alert>}
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            off={missing}
            aria-busy={isRunning || undefined}
          >
            {action}
          </Button>
        </form>
      ) : (
        <>
          <p role="status">{result}</p>
          <Button onClick={onClose}>Close</Button>
        </>
      )}
    </aside>
  );
}
