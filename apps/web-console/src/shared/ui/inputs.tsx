import { t } from '@lingui/core/macro';
import type { InputHTMLAttributes, ReactNode, Ref, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react';
import { Icon } from './icon.js';

interface Editable {
  value: string;
  onChange: (value: string) => void;
  isInvalid?: boolean;
  isDisabled?: boolean;
}

type NativeProps<T> = Omit<T, keyof Editable | 'disabled'>;

const classNames = (...names: (string | undefined)[]): string => names.filter(Boolean).join(' ');

export function TextInput({
  onChange,
  isInvalid = false,
  isDisabled = false,
  className,
  ...rest
}: Editable & NativeProps<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <input
      type="text"
      className={classNames('hg-input', className)}
      aria-invalid={isInvalid}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );
}

export function TextArea({
  onChange,
  isInvalid = false,
  isDisabled = false,
  className,
  ...rest
}: Editable & NativeProps<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <textarea
      className={classNames('hg-input', className)}
      aria-invalid={isInvalid}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );
}

/** A list to choose one value from; the children are `<option>` elements. */
export function SelectInput({
  onChange,
  isInvalid = false,
  isDisabled = false,
  className,
  ...rest
}: Editable & NativeProps<SelectHTMLAttributes<HTMLSelectElement>>) {
  return (
    <select
      className={classNames('hg-input', className)}
      aria-invalid={isInvalid}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );
}

interface SearchInputProps extends NativeProps<InputHTMLAttributes<HTMLInputElement>> {
  value: string;
  onChange: (value: string) => void;
  ref?: Ref<HTMLInputElement>;
}

/** A search box with a button that empties it. */
export function SearchInput({ onChange, className, ...rest }: SearchInputProps) {
  return (
    <span className={classNames('hg-search', className)}>
      <Icon name="search" />
      <input
        type="text"
        className="hg-input"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      {rest.value !== '' && (
        <button type="button" className="hg-icon-button" aria-label={t`Clear search`} onClick={() => onChange('')}>
          <Icon name="cross" />
        </button>
      )}
    </span>
  );
}

interface SwitchProps {
  id: string;
  label: ReactNode;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}

export function Switch({ id, label, isChecked, onChange }: SwitchProps) {
  return (
    <label className="hg-switch" htmlFor={id}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={isChecked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
