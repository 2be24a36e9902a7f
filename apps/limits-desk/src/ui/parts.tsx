import type { ComponentProps, ReactNode } from 'react';
import { printable } from '../model/printable.js';

/** A name that a stranger chose: isolated from the direction of the text around it, without hidden characters. */
export const Name = ({ children }: { children: string }) => <bdi className="desk-name">{printable(children)}</bdi>;

export type Tone = 'ok' | 'warn' | 'bad' | 'idle' | 'busy';

const SHAPES: Record<Tone, ReactNode> = {
  ok: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  warn: <path d="M5 1 9.5 9h-9z" fill="currentColor" />,
  bad: <path d="M5 .5 9.5 5 5 9.5.5 5z" fill="currentColor" />,
  idle: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  busy: <path d="M5 1.2A3.8 3.8 0 1 1 1.2 5" fill="none" stroke="currentColor" strokeWidth="1.5" />,
};

export const Shape = ({ tone }: { tone: Tone }) => (
  <svg viewBox="0 0 10 10" aria-hidden="true">
    {SHAPES[tone]}
  </svg>
);

/** A state as a shape, a color and a word. */
export const State = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="desk-state" data-tone={tone}>
    <Shape tone={tone} />
    <span>{children}</span>
  </span>
);

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> & {
  kind?: 'primary' | 'danger' | 'plain';
  /** Why the button is off. It stays focusable. */
  off?: string | undefined;
};

export const Button = ({ kind, off, onClick, type = 'button', ...rest }: ButtonProps) => (
  <button
    {...rest}
    type={type}
    className="desk-button"
    data-kind={kind}
    aria-disabled={off === undefined ? undefined : true}
    title={off}
    onClick={(event) => {
      if (off === undefined) onClick?.(event);
      else event.preventDefault();
    }}
  />
);

export const Field = ({ label, children }: { label: string; children: ReactNode }) => (
  <label className="desk-field">
    <span>{label}</span>
    {children}
  </label>
);

export const Alert = ({ children }: { children: ReactNode }) => (
  <p className="desk-alert" role="alert">
    {children}
  </p>
);

/** The used part of a limit, as a bar. The figures are next to it. */
export const UsedBar = ({ used, isFull }: { used: number; isFull: boolean }) => (
  <svg className="desk-bar" data-full={isFull} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect width={Math.min(100, Math.max(0, used * 100))} height="6" />
  </svg>
);

/** The top of a page. The title takes the focus when the page changes. */
export const PageHead = ({ title, note, children }: { title: string; note?: ReactNode; children?: ReactNode }) => (
  <header>
    <h1 tabIndex={-1}>{title}</h1>
    {note !== undefined && <span className="desk-second">{note}</span>}
    <span className="desk-spring" />
    {children}
  </header>
);

/** A cell, with the name of its column for phones, where rows are cards. */
export const Cell = ({ label, ...rest }: ComponentProps<'td'> & { label: string }) => (
  <td data-label={label} {...rest} />
);

/** The cell of a request: its operation, and the path that a stranger chose. */
export const RequestCell = ({ event, path }: { event: string; path: string }) => (
  <Cell label="Request">
    {event}{' '}
    <span className="desk-code">
      <Name>{path}</Name>
    </span>
  </Cell>
);
